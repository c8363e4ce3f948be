use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(untagged, rename_all = "odd")]
struct Point {
    #[serde(skip)]
    #[shape(format = email, nullable)]
    x: u8,
    y: Option<u8>,
}

fn main() {}
