use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(rename_all = "Title Case")]
struct Point {
    x: u8,
}

fn main() {}
