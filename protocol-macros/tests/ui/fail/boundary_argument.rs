use panelot_protocol::boundary;
use serde_json::Value;

#[boundary(needs(LIMIT))]
fn rule(_: &Value) -> Result<(), String> {
    Ok(())
}

fn main() {}
