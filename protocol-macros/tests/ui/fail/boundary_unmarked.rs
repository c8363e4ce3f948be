use panelot_protocol::Shape;
use serde_json::Value;

fn rule(_: &Value) -> Result<(), String> {
    Ok(())
}

#[derive(Shape)]
struct Point {
    #[shape(boundary = rule)]
    x: u8,
}

fn main() {}
