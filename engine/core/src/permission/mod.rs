//! Permission: data in, verdict out. No port, no clock, nothing that waits.
//!
//! [`policy::verdict`] is the one function that decides, and [`call`] turns its answer into a value that only this
//! module can make: without a [`Permitted`] nothing can be executed.

pub mod call;
pub mod origins;
pub mod payload;
pub mod policy;
pub mod rules;
pub mod sensitive;

pub use call::{Change, Decision, Executed, Held, Permitted, Refusal, ToolCall};
pub use origins::{Origin, OriginPattern, Place, UrlProblem, WebUrl};
pub use payload::{Finding, Taints};
pub use policy::{
    AllowedBecause, AskedBecause, BrowserData, DeniedBecause, Effect, Escalation, HostAccess, Question,
    Target, ThreadScope, Verdict, verdict,
};
pub use rules::Grant;
pub use sensitive::SensitiveOrigins;
