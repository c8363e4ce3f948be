//! Badge, notifications, the alarm, and staying awake.

use crate::chrome::{action, alarms, notifications, runtime};
use panelot_engine::ports::{Activity, Notifier};
use panelot_protocol::ids::ThreadId;
use std::future::Future;

/// The alarm's name.
pub const ALARM: &str = "panelot";
/// The prefix of a notification's id; the thread's id follows.
pub const NOTIFICATION_PREFIX: &str = "thread:";

/// The browser's means.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebNotifier;

impl Notifier for WebNotifier {
    fn activity(&self, activity: Activity) {
        let (text, color) = match activity {
            Activity::Idle => ("", "#5b6472"),
            Activity::Running => ("…", "#2f6fde"),
            Activity::Waiting => ("!", "#b86e00"),
        };
        action::set_badge(text, color);
    }

    fn waiting_for_user(&self, thread_id: &ThreadId) {
        notifications::show(&format!("{NOTIFICATION_PREFIX}{thread_id}"));
    }

    fn settled(&self, thread_id: &ThreadId) {
        notifications::clear(&format!("{NOTIFICATION_PREFIX}{thread_id}"));
    }

    fn set_alarm(&self, on: bool) -> impl Future<Output = ()> + 'static {
        async move {
            if on {
                alarms::create_every_half_minute(ALARM).await;
            } else {
                alarms::clear(ALARM).await;
            }
        }
    }

    fn touch(&self) -> impl Future<Output = ()> + 'static {
        async { runtime::touch().await }
    }

    fn update(&self) {
        runtime::reload();
    }
}
