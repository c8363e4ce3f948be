//! One set of icons: 16 px, strokes of 1.5. They carry no name; the control around them does.

use dioxus::prelude::*;

/// What an icon shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Lines of a list.
    List,
    /// A pen on paper.
    New,
    /// Arrows to the corners.
    Expand,
    /// Sliders.
    Settings,
    /// An arrow upwards.
    Send,
    /// A square.
    Stop,
    /// A tick.
    Check,
    /// A cross.
    Cross,
    /// An arc that turns.
    Spinner,
    /// An angle to the right.
    Chevron,
    /// An angle to the left.
    ChevronBack,
    /// An angle downwards.
    ChevronDown,
    /// A pencil.
    Pencil,
    /// A bin.
    Bin,
    /// Two sheets.
    Copy,
    /// A turning arrow.
    Again,
    /// A browser window.
    Page,
    /// A triangle with a mark.
    Warning,
    /// A clock.
    Clock,
    /// A pin.
    Pin,
    /// A plus.
    Plus,
    /// An arrow downwards.
    Down,
}

impl Shape {
    const fn path(self) -> &'static str {
        match self {
            Self::List => "M2.5 4h11M2.5 8h11M2.5 12h7",
            Self::New => {
                "M8.5 2.75H4.25a1.5 1.5 0 0 0-1.5 1.5v7.5a1.5 1.5 0 0 0 1.5 1.5h7.5a1.5 1.5 0 0 0 1.5-1.5V7.5M7 9l.4-1.9 5.2-5.2a1 1 0 0 1 1.5 1.5L8.9 8.6 7 9Z"
            }
            Self::Expand => "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
            Self::Settings => {
                "M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3ZM6 9.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3Z"
            }
            Self::Send => "M8 13V3.5M3.75 7.5 8 3.25l4.25 4.25",
            Self::Stop => "M4.75 4.75h6.5v6.5h-6.5Z",
            Self::Check => "m3.25 8.5 3.25 3.25 6.25-7.25",
            Self::Cross => "m4 4 8 8M12 4l-8 8",
            Self::Spinner => "M8 2.25A5.75 5.75 0 1 1 2.25 8",
            Self::Chevron => "m6 3.5 4.5 4.5L6 12.5",
            Self::ChevronBack => "M10 3.5 5.5 8l4.5 4.5",
            Self::ChevronDown => "M3.5 6 8 10.5 12.5 6",
            Self::Pencil => {
                "m2.75 13.25.75-3 7.6-7.6a1.2 1.2 0 0 1 1.7 0l.55.55a1.2 1.2 0 0 1 0 1.7l-7.6 7.6-3 .75ZM9.75 4l2.25 2.25"
            }
            Self::Bin => "M2.75 4.25h10.5M6 4V2.75h4V4M4.25 4.5l.5 8.75h6.5l.5-8.75M6.75 7v3.75M9.25 7v3.75",
            Self::Copy => "M5.75 5.75v-3h7.5v7.5h-3M2.75 5.75h7.5v7.5h-7.5Z",
            Self::Again => "M13.25 8a5.25 5.25 0 1 1-1.6-3.77M13.25 2.5v2.75H10.5",
            Self::Page => "M2.25 3.25h11.5v9.5H2.25ZM2.25 6h11.5M4.25 4.6h.01M6 4.6h.01",
            Self::Warning => "M8 2.5 14.25 13H1.75ZM8 6.5v3M8 11.2v.05",
            Self::Clock => "M8 2.25a5.75 5.75 0 1 1 0 11.5 5.75 5.75 0 0 1 0-11.5ZM8 5v3.25l2 1.25",
            Self::Pin => "M5.5 2.5h5L10 7l2 2.25H4L6 7ZM8 9.25V14",
            Self::Plus => "M8 3v10M3 8h10",
            Self::Down => "M8 3v9.5M3.75 8.5 8 12.75l4.25-4.25",
        }
    }
}

/// An icon.
#[component]
pub fn Icon(shape: Shape, #[props(default = 16)] size: u32) -> Element {
    let class = if shape == Shape::Spinner { "spin" } else { "" };
    let fill = if shape == Shape::Stop { "currentColor" } else { "none" };
    rsx! {
        svg {
            class, width: "{size}", height: "{size}", view_box: "0 0 16 16", fill, stroke: "currentColor",
            stroke_width: "1.5", stroke_linecap: "round", stroke_linejoin: "round", "aria-hidden": "true", "focusable": "false",
            path { d: shape.path() }
        }
    }
}
