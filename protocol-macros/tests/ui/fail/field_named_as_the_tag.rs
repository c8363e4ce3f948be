use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum Shaped {
    Box {
        #[serde(rename = "type")]
        sort: u8,
    },
}

fn main() {}
