use panelot_protocol::boundary;

#[boundary]
const fn rule<T>(value: &T, other: u8) -> Result<(), String> {
    Ok(())
}

fn main() {}
