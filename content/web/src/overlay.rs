//! A short highlight that shows the user what is being touched. It takes no events and is never read.

use crate::dom::{self, Node};
use panelot_content::facts::Rect;
use wasm_bindgen::JsValue;

/// The highlight is on top of everything.
const TOP: &str = "2147483647";

/// A highlight; it goes away when this is dropped.
pub struct Highlight {
    host: Node,
}

impl Highlight {
    /// Draws a frame with a label around a place. None where the page has no root to draw on.
    pub fn show(rect: Rect, label: &str) -> Option<Highlight> {
        let document = dom::document();
        let host = document.create_element("div").ok()?;
        style(
            &host,
            &[
                ("all", "initial"),
                ("position", "fixed"),
                ("inset", "0"),
                ("pointer-events", "none"),
                ("z-index", TOP),
            ],
        );
        let root = host.attach_shadow(&dom::object(&[("mode", JsValue::from_str("closed"))])).ok()?;
        let frame = document.create_element("div").ok()?;
        let px = |value: f64| format!("{value:.0}px");
        style(
            &frame,
            &[
                ("position", "fixed"),
                ("pointer-events", "none"),
                ("left", &px(rect.x - 3.0)),
                ("top", &px(rect.y - 3.0)),
                ("width", &px(rect.width + 2.0)),
                ("height", &px(rect.height + 2.0)),
                ("border", "2px solid #3b82f6"),
                ("border-radius", "6px"),
                ("box-shadow", "0 0 0 3px rgb(59 130 246 / 30%)"),
            ],
        );
        let tag = document.create_element("div").ok()?;
        tag.set_text_content(label);
        let above = if rect.y > 24.0 { rect.y - 24.0 } else { rect.y + rect.height + 4.0 };
        style(
            &tag,
            &[
                ("position", "fixed"),
                ("pointer-events", "none"),
                ("left", &px(rect.x.max(0.0))),
                ("top", &px(above)),
                ("font", "12px/18px system-ui, sans-serif"),
                ("color", "#fff"),
                ("background", "#2563eb"),
                ("padding", "0 6px"),
                ("border-radius", "4px"),
            ],
        );
        root.append_child(&frame).ok()?;
        root.append_child(&tag).ok()?;
        document.document_element()?.append_child(&host).ok()?;
        Some(Highlight { host })
    }
}

impl Drop for Highlight {
    fn drop(&mut self) {
        self.host.remove();
    }
}

fn style(node: &Node, entries: &[(&str, &str)]) {
    let style = node.style();
    for (name, value) in entries {
        // A declaration that the browser does not know leaves the highlight a little plainer.
        let _ = style.set(name, value);
    }
}
