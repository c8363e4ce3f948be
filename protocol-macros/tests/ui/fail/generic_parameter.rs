use panelot_protocol::Shape;

#[derive(Shape)]
struct Wrapper<T> {
    inner: T,
}

fn main() {}
