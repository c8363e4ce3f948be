//! What a model is told: the kernel, the layers over it, the fence around what pages say, and what it all costs.

pub mod dates;
pub mod estimate;
pub mod fence;
pub mod kernel;
pub mod layers;

pub use estimate::tokens;
pub use fence::{Provenance, fence};
pub use kernel::{KERNEL, KERNEL_VERSION};
pub use layers::{Environment, Layers, SiteText, SkillLine, captured_tab_header, system_prompt};
