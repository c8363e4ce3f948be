use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(untagged)]
enum Either {
    #[serde(other)]
    Left,
    Right {
        #[serde(skip)]
        hidden: u8,
    },
}

fn main() {}
