//! The product as its users meet it: its pages by their test names, and its Port as its pages use it.

mod chat;
mod port;

use anyhow::Result;
use panelot_protocol::ids::ConnectionId;
use panelot_protocol::op::Op;
use panelot_protocol::settings::{
    ConnectionInput, ModelCapabilities, ModelEntry, Patience, ProviderKind, QuirkFlags, SettingsPatch,
    SiteAccess,
};
use panelot_protocol::turn::ModelRef;

pub use self::chat::{Chat, Line, by_test_id};
pub use self::port::{EnginePort, fresh_id};
use crate::browser::Page;
use crate::provider::DEMO_MODEL;

/// The page with the conversation in a tab.
pub const CHAT_PAGE: &str = "chat.html";
/// The side panel's page.
pub const PANEL_PAGE: &str = "sidepanel.html";
/// The settings' page.
pub const OPTIONS_PAGE: &str = "options.html";

/// Stores a connection to a provider and chooses its demo model, as the settings page would.
///
/// `page` is any page of the extension; `keys` are used in their order.
///
/// # Errors
/// When the engine refuses a change or does not answer.
pub async fn connect_provider(page: &Page, base_url: &str, keys: &[&str]) -> Result<()> {
    let port = EnginePort::open(page).await?;
    port.initialize().await?;
    let connection_id = ConnectionId::new(fresh_id());
    let model = ModelRef { connection_id: connection_id.clone(), model_id: DEMO_MODEL.into() };
    let capabilities =
        ModelCapabilities { tool_use: true, vision: false, reasoning: None, max_context: Some(128_000) };
    let entry = ModelEntry { model: model.clone(), display_name: None, capabilities, pricing: None };
    let connection = ConnectionInput {
        connection_id,
        name: "Demo provider".into(),
        kind: ProviderKind::Openai,
        base_url: base_url.into(),
        api_keys: Some(keys.iter().map(ToString::to_string).collect()),
        custom_headers: None,
        prefix_id: None,
        models: vec![entry],
        enabled: true,
        quirks: QuirkFlags::default(),
        patience: Patience::default(),
    };
    let patches = [
        SettingsPatch::PutConnection { connection },
        SettingsPatch::DefaultModel { model: Some(model) },
        SettingsPatch::SiteAccess { site_access: SiteAccess::AllSites },
    ];
    for patch in patches {
        port.ask(|submission_id| Op::SettingsUpdate { submission_id, patch }).await?;
    }
    port.close().await
}
