use panelot_protocol::FromJson;

#[derive(FromJson)]
struct Hidden {
    #[serde(with = "in_hex")]
    hex: u8,
    #[serde(default = "three")]
    count: u8,
}

fn main() {}
