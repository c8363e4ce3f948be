use panelot_protocol::Shape;

#[derive(Shape)]
union Bits {
    whole: u32,
    part: u8,
}

fn main() {}
