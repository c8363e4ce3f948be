//! Tools: what a model can call. One registry holds what schemas, approvals and results derive from.

pub mod args;
pub mod catalogue;
pub mod invocation;
pub mod registry;
pub mod results;
pub mod schema;
pub mod waits;

pub use args::{ArgumentProblem, parse_call};
pub use invocation::{CallContext, ToolInvocation};
pub use registry::{Recovery, ResultTrust, ToolSpec, find, offered};
pub use schema::json_schema;
pub use waits::WaitCall;
