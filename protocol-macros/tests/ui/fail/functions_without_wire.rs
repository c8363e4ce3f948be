use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    #[serde(with = "hex")]
    x: u8,
}

fn main() {}
