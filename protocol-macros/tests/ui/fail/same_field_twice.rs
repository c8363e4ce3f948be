use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(rename_all = "camelCase")]
struct Point {
    at_x: u8,
    #[serde(rename = "atX")]
    other: u8,
}

fn main() {}
