//! The fold of events into a view, held against what each event says and against lost and repeated messages.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use panelot_protocol::approval::{ApprovalDecision, ApprovalRequestPayload, PendingApproval, ToolCategory};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{
    ApprovalId, Epoch, FolderId, InteractionId, ItemId, RunId, SubmissionId, TabId, ThreadId, TurnId,
};
use panelot_protocol::interaction::InteractionRequestPayload;
use panelot_protocol::item::{ItemDelta, ItemDetails, ItemKind, ItemMeta, ItemResult, ItemStatus, ItemView};
use panelot_protocol::snapshot::{
    ActiveTurn, QueueView, QueuedRun, RecoveryReason, RunRecoveryState, StreamCursor, ThreadMeta,
    ThreadMetaPatch, ThreadSnapshot, ThreadStats, TurnEnd, Waiting, WaitingReason,
};
use panelot_protocol::turn::{StopReason, TokenUsage, TurnKind, UserInput};
use panelot_protocol::view::{Folded, ResubscribeReason, ThreadView};
use proptest::prelude::*;
use serde_json::json;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn thread() -> ThreadId {
    ThreadId::new("thread")
}

fn turn() -> TurnId {
    TurnId::new("turn")
}

fn cursor(sequence: u64) -> StreamCursor {
    StreamCursor { thread_id: thread(), epoch: Epoch::new("first"), sequence }
}

fn empty() -> ThreadSnapshot {
    ThreadSnapshot {
        thread: ThreadMeta {
            thread_id: thread(),
            revision: 1,
            title: "Before".to_owned(),
            created_at_ms: 1,
            updated_at_ms: 1,
            leaf_id: None,
            pinned: false,
            archived: false,
            preset: None,
            folder_id: Some(FolderId::new("folder")),
            tags: vec!["kept".to_owned()],
            parent_thread_id: None,
            param_overrides: None,
            cost_ceiling_usd: None,
            stats: ThreadStats::default(),
        },
        items: Vec::new(),
        older_than: None,
        active_turn: None,
        approvals: Vec::new(),
        interactions: Vec::new(),
        queue: QueueView::default(),
        recoverable: Vec::new(),
        cursor: cursor(0),
    }
}

fn at(sequence: u64, event: AgentEvent) -> EventFrame {
    EventFrame { event, cursor: Some(cursor(sequence)) }
}

/// The view after the events, each of which must be folded.
fn folded(events: impl IntoIterator<Item = AgentEvent>) -> ThreadView {
    let mut view = ThreadView::new(empty());
    for (sequence, event) in (1..).zip(events) {
        assert_eq!(view.fold(&at(sequence, event)), Folded::Current);
    }
    view
}

/// An event that leads to nothing but the answer given, and leaves the view as it was.
fn check_unfolded(frame: &EventFrame, expected: Folded) {
    let before = folded([turn_start(), item_start("item")]);
    let mut view = before.clone();
    assert_eq!(view.fold(frame), expected);
    assert_eq!(view, before);
}

fn turn_start() -> AgentEvent {
    AgentEvent::TurnStart { thread_id: thread(), turn_id: turn(), turn_kind: TurnKind::User, steerable: true }
}

fn turn_complete(stop_reason: StopReason) -> AgentEvent {
    AgentEvent::TurnComplete { thread_id: thread(), turn_id: turn(), stop_reason }
}

fn item_start(id: &str) -> AgentEvent {
    AgentEvent::ItemStart {
        thread_id: thread(),
        turn_id: turn(),
        item_id: ItemId::new(id),
        kind: ItemKind::AssistantMessage,
        meta: ItemMeta::default(),
    }
}

fn delta(id: &str, delta: ItemDelta) -> AgentEvent {
    AgentEvent::ItemDelta { thread_id: thread(), item_id: ItemId::new(id), delta }
}

fn text(id: &str, text: &str) -> AgentEvent {
    delta(id, ItemDelta { text: Some(text.to_owned()), ..ItemDelta::default() })
}

fn item_complete(id: &str, result: Option<ItemResult>) -> AgentEvent {
    AgentEvent::ItemComplete { thread_id: thread(), item_id: ItemId::new(id), result }
}

fn item(id: &str) -> ItemView {
    ItemView {
        item_id: ItemId::new(id),
        turn_id: turn(),
        kind: ItemKind::AssistantMessage,
        meta: ItemMeta::default(),
        text: String::new(),
        tool_progress: None,
        status: ItemStatus::Running,
        details: None,
    }
}

fn approval_payload() -> ApprovalRequestPayload {
    ApprovalRequestPayload {
        item_id: ItemId::new("call"),
        tool_name: "click".to_owned(),
        category: ToolCategory::Click,
        label: "button \"Pay\"".to_owned(),
        params: json!({ "ref": "e1" }),
        origin: None,
        tab_id: None,
        flags: Vec::new(),
        preview: None,
        deadline_ms: 300_000,
    }
}

fn approval_request(id: &str) -> AgentEvent {
    AgentEvent::ApprovalRequest {
        thread_id: thread(),
        turn_id: turn(),
        approval_id: ApprovalId::new(id),
        request: Box::new(approval_payload()),
    }
}

fn interaction_request(id: &str) -> AgentEvent {
    AgentEvent::InteractionRequest {
        thread_id: thread(),
        turn_id: turn(),
        interaction_id: InteractionId::new(id),
        request: Box::new(InteractionRequestPayload::Takeover {
            tab_id: TabId(7),
            what: "a click".to_owned(),
        }),
    }
}

fn recovery(reason: RecoveryReason, revision: u64) -> RunRecoveryState {
    RunRecoveryState { run_id: RunId::new("turn"), turn_id: turn(), reason, pending_tool: None, revision }
}

fn recovery_required(reason: RecoveryReason, revision: u64) -> AgentEvent {
    AgentEvent::RunRecoveryRequired { thread_id: thread(), run: recovery(reason, revision) }
}

fn waiting(waiting: Option<Waiting>) -> AgentEvent {
    AgentEvent::RunWaiting { thread_id: thread(), turn_id: turn(), waiting }
}

fn queue_updated(runs: Vec<QueuedRun>, held: bool) -> AgentEvent {
    let pending = u32::try_from(runs.len()).unwrap();
    AgentEvent::QueueUpdated { thread_id: thread(), pending, runs, held }
}

fn queued(id: &str) -> QueuedRun {
    QueuedRun { run_id: RunId::new(id), input: UserInput::text(id), overrides: None, revision: 1 }
}

fn updated(revision: u64, patch: ThreadMetaPatch) -> AgentEvent {
    AgentEvent::ThreadUpdated { thread_id: thread(), revision, patch: Box::new(patch) }
}

#[test]
fn an_item_grows_by_its_deltas_and_settles_at_its_end() {
    let reasoning = ItemDelta { reasoning: Some("Hm. ".to_owned()), ..ItemDelta::default() };
    let progress = ItemDelta { tool_progress: Some(json!(50)), ..ItemDelta::default() };
    let view = folded([
        item_start("a"),
        item_start("b"),
        delta("a", reasoning),
        text("a", "Hel"),
        text("b", "other"),
        text("a", "lo"),
        delta("b", progress),
    ]);
    let running = [
        ItemView { text: "Hm. Hello".to_owned(), ..item("a") },
        ItemView { text: "other".to_owned(), tool_progress: Some(json!(50)), ..item("b") },
    ];
    assert_eq!(view.snapshot.items, running);

    let details = ItemDetails { partial: true, ..ItemDetails::default() };
    let mut view = view;
    view.fold(&at(8, item_complete("a", None)));
    view.fold(&at(9, item_complete("b", Some(ItemResult { ok: false, details: Some(details.clone()) }))));
    let settled = [
        ItemView { text: "Hm. Hello".to_owned(), status: ItemStatus::Done, ..item("a") },
        ItemView {
            text: "other".to_owned(),
            status: ItemStatus::Failed,
            details: Some(details),
            ..item("b")
        },
    ];
    assert_eq!(view.snapshot.items, settled);
}

#[test]
fn an_item_that_starts_again_takes_its_own_place() {
    let view = folded([item_start("a"), item_start("b"), text("a", "half"), item_start("a")]);
    assert_eq!(view.snapshot.items, [item("a"), item("b")]);
}

#[test]
fn a_turn_is_active_from_its_start_to_its_end() {
    let mut view = folded([turn_start()]);
    let active = ActiveTurn {
        turn_id: turn(),
        turn_kind: TurnKind::User,
        steerable: true,
        waiting: None,
        steers: Vec::new(),
    };
    assert_eq!(view.snapshot.active_turn, Some(active));
    view.fold(&at(2, turn_complete(StopReason::MaxTokens)));
    assert_eq!(view.snapshot.active_turn, None);
    assert_eq!(view.last_end, Some(TurnEnd { turn_id: turn(), stop_reason: StopReason::MaxTokens }));
}

#[test]
fn a_turn_that_finds_a_title_changes_nothing_of_the_users_turn() {
    let title = |event: fn(ThreadId, TurnId) -> AgentEvent| event(thread(), TurnId::new("title"));
    let view = folded([
        turn_start(),
        title(|thread_id, turn_id| AgentEvent::TurnStart {
            thread_id,
            turn_id,
            turn_kind: TurnKind::Title,
            steerable: false,
        }),
        title(|thread_id, turn_id| AgentEvent::TokenUsage {
            thread_id,
            turn_id,
            usage: TokenUsage { input: 9, ..TokenUsage::default() },
            cost_usd: None,
        }),
        title(|thread_id, turn_id| AgentEvent::TurnComplete {
            thread_id,
            turn_id,
            stop_reason: StopReason::Error,
        }),
    ]);
    let mut expected = folded([turn_start()]);
    expected.snapshot.cursor.sequence = view.snapshot.cursor.sequence;
    assert_eq!(view, expected);
}

#[test]
fn a_wait_is_shown_until_the_turn_goes_on() {
    let slow = Waiting { reason: WaitingReason::RateLimit, until_ms: Some(9) };
    let mut view = folded([turn_start(), waiting(Some(slow.clone()))]);
    assert_eq!(view.snapshot.active_turn.as_ref().unwrap().waiting, Some(slow));
    view.fold(&at(3, waiting(None)));
    assert_eq!(view.snapshot.active_turn.as_ref().unwrap().waiting, None);
}

#[test]
fn tokens_add_up_over_a_turn_and_begin_anew_with_the_next() {
    let usage = |input, cache_read| AgentEvent::TokenUsage {
        thread_id: thread(),
        turn_id: turn(),
        usage: TokenUsage { input, output: 1, cache_read, cache_write: None },
        cost_usd: None,
    };
    let mut view = folded([turn_start(), usage(10, None), usage(5, Some(3))]);
    let sum = TokenUsage { input: 15, output: 2, cache_read: Some(3), cache_write: None };
    assert_eq!(view.turn_usage, sum);
    view.fold(&at(4, turn_start()));
    assert_eq!(view.turn_usage, TokenUsage::default());
}

#[test]
fn a_question_stays_until_its_item_ends() {
    let mut view = folded([
        item_start("question"),
        approval_request("question"),
        item_start("wait"),
        interaction_request("wait"),
    ]);
    let pending = PendingApproval {
        approval_id: ApprovalId::new("question"),
        turn_id: turn(),
        request: approval_payload(),
    };
    assert_eq!(view.snapshot.approvals, [pending]);
    assert_eq!(view.snapshot.interactions.len(), 1);
    let decision = ItemDetails { decision: Some(ApprovalDecision::Accept {}), ..ItemDetails::default() };
    view.fold(&at(5, item_complete("question", Some(ItemResult { ok: true, details: Some(decision) }))));
    view.fold(&at(6, item_complete("wait", None)));
    assert_eq!((view.snapshot.approvals.len(), view.snapshot.interactions.len()), (0, 0));
}

#[test]
fn a_question_that_is_asked_again_is_still_one() {
    let view = folded([approval_request("question"), approval_request("question")]);
    assert_eq!(view.snapshot.approvals.len(), 1);
}

#[test]
fn a_queue_is_replaced_as_a_whole() {
    let view = folded([
        queue_updated(vec![queued("a"), queued("b")], false),
        queue_updated(vec![queued("b")], true),
    ]);
    assert_eq!(view.snapshot.queue, QueueView { runs: vec![queued("b")], held: true });
}

#[test]
fn a_run_waits_for_a_decision_until_it_starts_or_ends() {
    let uncertain = recovery_required(RecoveryReason::UncertainWrite, 2);
    let view = folded([recovery_required(RecoveryReason::Interrupted, 1), uncertain.clone()]);
    assert_eq!(view.snapshot.recoverable, [recovery(RecoveryReason::UncertainWrite, 2)]);
    assert_eq!(folded([uncertain.clone(), turn_start()]).snapshot.recoverable, []);
    assert_eq!(folded([uncertain.clone(), turn_complete(StopReason::Error)]).snapshot.recoverable, []);
    let paused = recovery_required(RecoveryReason::BudgetPaused, 3);
    let ended = folded([uncertain, turn_complete(StopReason::BudgetPause), paused]);
    assert_eq!(ended.snapshot.recoverable, [recovery(RecoveryReason::BudgetPaused, 3)]);
}

#[test]
fn a_patch_changes_what_it_names_and_nothing_else() {
    let patch =
        ThreadMetaPatch { title: Some("After".to_owned()), pinned: Some(true), ..ThreadMetaPatch::default() };
    let view = folded([updated(2, patch)]);
    let expected = ThreadMeta { revision: 2, title: "After".to_owned(), pinned: true, ..empty().thread };
    assert_eq!(view.snapshot.thread, expected);
}

#[test]
fn another_path_is_fetched_as_a_whole() {
    let mut view = folded([turn_start()]);
    let patch = ThreadMetaPatch { path_replaced: true, ..ThreadMetaPatch::default() };
    let answer = view.fold(&at(2, updated(2, patch)));
    assert_eq!(answer, Folded::Resubscribe(ResubscribeReason::PathReplaced));
}

#[test]
fn a_repeated_event_is_ignored() {
    check_unfolded(&at(2, item_start("item")), Folded::Ignored);
    check_unfolded(&at(1, turn_complete(StopReason::End)), Folded::Ignored);
}

#[test]
fn a_missing_event_is_noticed() {
    check_unfolded(&at(4, text("item", "x")), Folded::Resubscribe(ResubscribeReason::Gap));
}

#[test]
fn a_revision_that_nobody_told_is_noticed() {
    let answer = folded([turn_start()]).fold(&at(2, updated(3, ThreadMetaPatch::default())));
    assert_eq!(answer, Folded::Resubscribe(ResubscribeReason::UntoldRevision));
}

#[test]
fn a_new_life_of_the_worker_is_noticed() {
    let cursor = StreamCursor { epoch: Epoch::new("second"), ..cursor(3) };
    let frame = EventFrame { event: text("item", "x"), cursor: Some(cursor) };
    check_unfolded(&frame, Folded::Resubscribe(ResubscribeReason::NewEpoch));
}

#[test]
fn an_event_about_an_unknown_item_is_noticed() {
    check_unfolded(&at(3, text("none", "x")), Folded::Resubscribe(ResubscribeReason::UnknownItem));
    check_unfolded(&at(3, item_complete("none", None)), Folded::Resubscribe(ResubscribeReason::UnknownItem));
}

#[test]
fn what_is_not_of_this_threads_stream_is_ignored() {
    let other = AgentEvent::ThreadDeleted { thread_id: ThreadId::new("other") };
    check_unfolded(&at(3, other), Folded::Ignored);
    check_unfolded(&EventFrame::outside(text("item", "x")), Folded::Ignored);
    check_unfolded(&at(3, AgentEvent::Pong { submission_id: SubmissionId::from(ID) }), Folded::Ignored);
}

#[test]
fn a_deleted_thread_is_told() {
    check_unfolded(&at(3, AgentEvent::ThreadDeleted { thread_id: thread() }), Folded::Deleted);
}

fn subscribed(snapshot: ThreadSnapshot) -> EventFrame {
    let submission_id = SubmissionId::from(ID);
    EventFrame::outside(AgentEvent::ThreadSubscribed { submission_id, snapshot: Box::new(snapshot) })
}

#[test]
fn a_snapshot_of_this_thread_replaces_the_view() {
    let mut view = folded([turn_start()]);
    let fresh = ThreadSnapshot { cursor: cursor(9), ..empty() };
    assert_eq!(view.fold(&subscribed(fresh.clone())), Folded::Current);
    assert_eq!(view, ThreadView::new(fresh));
}

#[test]
fn a_snapshot_of_another_thread_is_ignored() {
    let mut other = empty();
    other.thread.thread_id = ThreadId::new("other");
    check_unfolded(&subscribed(other), Folded::Ignored);
}

fn any_event() -> impl Strategy<Value = AgentEvent> {
    let id = || prop_oneof![Just("a"), Just("b"), Just("c")];
    prop_oneof![
        Just(turn_start()),
        Just(turn_complete(StopReason::End)),
        Just(turn_complete(StopReason::BudgetPause)),
        id().prop_map(item_start),
        (id(), "[a-z]{1,4}").prop_map(|(id, letters)| text(id, &letters)),
        (id(), any::<bool>()).prop_map(|(id, ok)| item_complete(id, Some(ItemResult { ok, details: None }))),
        id().prop_map(approval_request),
        id().prop_map(interaction_request),
        any::<u64>().prop_map(|revision| recovery_required(RecoveryReason::Interrupted, revision)),
        any::<bool>().prop_map(|held| queue_updated(vec![queued("a")], held)),
        "[a-z]{0,4}".prop_map(|title| {
            updated(2, ThreadMetaPatch { title: Some(title), ..ThreadMetaPatch::default() })
        }),
        Just(waiting(Some(Waiting { reason: WaitingReason::Retry, until_ms: None }))),
        Just(AgentEvent::Error {
            submission_id: None,
            thread_id: Some(thread()),
            turn_id: None,
            code: ErrorCode::Internal,
            message: "It failed.".to_owned(),
            retryable: false,
            error_kind: None,
            provider_details: None,
        }),
    ]
}

/// What happens to one message on its way.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    IsLost,
    Arrives2Times,
}

fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![4 => Just(Fate::Arrives), 1 => Just(Fate::IsLost), 1 => Just(Fate::Arrives2Times)]
}

proptest! {
    #[test]
    fn lost_and_repeated_messages_never_leave_a_view_wrong(
        steps in proptest::collection::vec((any_event(), any_fate(), any_fate()), 0..60),
    ) {
        let mut engine = ThreadView::new(empty());
        let mut page = engine.clone();
        let mut asks = false;
        let last = (text("a", "!"), Fate::Arrives, Fate::Arrives);
        for (event, fate, answer_fate) in steps.into_iter().chain([(item_start("a"), Fate::Arrives, Fate::Arrives), last]) {
            let frame = at(engine.cursor().sequence + 1, event);
            // The engine says nothing about an item that it does not have.
            if engine.clone().fold(&frame) != Folded::Current {
                continue;
            }
            engine.fold(&frame);
            let times = match fate { Fate::IsLost => 0, Fate::Arrives => 1, Fate::Arrives2Times => 2 };
            for _ in 0..times {
                asks |= matches!(page.fold(&frame), Folded::Resubscribe(_));
            }
            if asks && !matches!(answer_fate, Fate::IsLost) {
                page.fold(&subscribed(engine.snapshot.clone()));
                asks = false;
            }
        }
        prop_assert_eq!(page.snapshot, engine.snapshot);
    }
}
