//! Failures as a person reads them: what happened, why, and what to do next.

use panelot_protocol::event::{ErrorCode, ProviderDetails, ProviderErrorKind};
use panelot_protocol::settings::Language;

use crate::i18n::{Key, fill};

/// What can be done about a failure, as a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing but reading it.
    None,
    /// See the models' settings.
    OpenModels,
    /// Let the run go on, or send it again.
    TryAgain,
    /// Reload the extension.
    Reload,
}

/// A failure, ready to be said in any language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    key: Key,
    provider: Option<String>,
    status: Option<u32>,
    detail: String,
    /// What can be done.
    pub step: Step,
}

impl Trouble {
    /// A failure that the engine reported.
    #[must_use]
    pub fn of(
        code: ErrorCode,
        message: &str,
        kind: Option<ProviderErrorKind>,
        details: Option<&ProviderDetails>,
    ) -> Self {
        let (key, step) = match code {
            ErrorCode::ProviderError => provider(kind),
            ErrorCode::ProtocolMismatch => (Key::ErrMismatch, Step::Reload),
            ErrorCode::ThreadNotFound => (Key::ErrThreadGone, Step::None),
            ErrorCode::TurnMismatch | ErrorCode::TurnNotSteerable | ErrorCode::NoActiveTurn => {
                (Key::ErrTurnMismatch, Step::None)
            }
            ErrorCode::QueueFull => (Key::ErrQueueFull, Step::None),
            ErrorCode::Overloaded => (Key::ErrOverload, Step::None),
            ErrorCode::Interrupted => (Key::EndInterrupted, Step::None),
            ErrorCode::NotConfigured => (Key::ErrNotConfigured, Step::OpenModels),
            ErrorCode::InvalidCommand => (Key::ErrInvalid, Step::None),
            ErrorCode::Internal => (Key::ErrInternal, Step::TryAgain),
            ErrorCode::StorageFull => (Key::ErrStorageFull, Step::None),
            ErrorCode::StorageBlocked => (Key::ErrStorageBlocked, Step::None),
            ErrorCode::StorageNewer => (Key::ErrStorageNewer, Step::Reload),
            ErrorCode::StorageDamaged => (Key::ErrStorageDamaged, Step::None),
            ErrorCode::StorageFailed => (Key::ErrStorageFailed, Step::TryAgain),
            ErrorCode::ImportInterrupted => (Key::ErrImportInterrupted, Step::None),
        };
        Self {
            key,
            provider: details.and_then(|details| details.connection_name.clone()),
            status: details.and_then(|details| details.status),
            detail: message.to_owned(),
            step,
        }
    }

    /// A failure of the page itself.
    #[must_use]
    pub fn own(key: Key, detail: &str, step: Step) -> Self {
        Self { key, provider: None, status: None, detail: detail.to_owned(), step }
    }

    /// The sentence.
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        let name = self.provider.as_deref().unwrap_or_else(|| Key::TheProvider.text(language));
        let status = self.status.map_or_else(|| "?".to_owned(), |status| status.to_string());
        let text = fill(language, self.key, &[("name", name), ("status", &status), ("detail", &self.detail)]);
        // Where no status is known, the brackets for it go too.
        text.replace(" (?)", "").replace("（?）", "")
    }
}

fn provider(kind: Option<ProviderErrorKind>) -> (Key, Step) {
    match kind {
        Some(ProviderErrorKind::Auth) => (Key::ErrAuth, Step::OpenModels),
        Some(ProviderErrorKind::RateLimit) => (Key::ErrRateLimit, Step::TryAgain),
        Some(ProviderErrorKind::InsufficientQuota) => (Key::ErrQuota, Step::OpenModels),
        Some(ProviderErrorKind::Overloaded) => (Key::ErrOverloaded, Step::TryAgain),
        Some(ProviderErrorKind::ContextTooLong) => (Key::ErrContext, Step::None),
        Some(ProviderErrorKind::ContentFilter) => (Key::ErrFilter, Step::None),
        Some(ProviderErrorKind::Network) => (Key::ErrNetwork, Step::OpenModels),
        Some(ProviderErrorKind::Protocol) => (Key::ErrProtocol, Step::OpenModels),
        Some(ProviderErrorKind::Timeout) => (Key::ErrTimeout, Step::TryAgain),
        Some(ProviderErrorKind::HostPermission) => (Key::ErrHost, Step::OpenModels),
        Some(ProviderErrorKind::BadRequest) => (Key::ErrBadRequest, Step::None),
        None => (Key::NoticeProviderFailed, Step::TryAgain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_key_names_the_provider_and_where_to_look() {
        let details = ProviderDetails {
            connection_name: Some("OpenAI".into()),
            status: Some(401),
            ..ProviderDetails::default()
        };
        let trouble =
            Trouble::of(ErrorCode::ProviderError, "401", Some(ProviderErrorKind::Auth), Some(&details));
        assert_eq!(trouble.text(Language::English), "OpenAI refused the key (401). Check it under Models.");
        assert_eq!(trouble.step, Step::OpenModels);
    }

    #[test]
    fn each_failure_of_the_database_says_what_can_be_done() {
        let cases = [
            (
                ErrorCode::StorageFull,
                "There is no room left to store this. Free some space on the disk, or delete chats.",
            ),
            (
                ErrorCode::StorageBlocked,
                "A window of an older version keeps the data open. Close it, then try again.",
            ),
            (
                ErrorCode::StorageNewer,
                "The stored data is of a newer version of Panelot. Update the extension.",
            ),
            (
                ErrorCode::StorageDamaged,
                "Stored data cannot be read: x. Export what is left under “Your data”.",
            ),
            (ErrorCode::StorageFailed, "The browser did not store this: x. Try again."),
            (ErrorCode::ImportInterrupted, "An import was cut off. Nothing was changed: start it again."),
        ];
        for (code, want) in cases {
            assert_eq!(Trouble::of(code, "x", None, None).text(Language::English), want);
        }
    }

    #[test]
    fn an_unknown_status_leaves_no_brackets() {
        let trouble = Trouble::of(ErrorCode::ProviderError, "x", Some(ProviderErrorKind::Auth), None);
        assert_eq!(
            [trouble.text(Language::English), trouble.text(Language::Chinese)],
            ["The provider refused the key. Check it under Models.", "服务商 拒绝了密钥。请在“模型”中检查。"]
        );
    }
}
