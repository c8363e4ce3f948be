//! What takes an engine's place: pages are told of a death and of an update, and an update waits until nothing is lost.

use panelot_engine::host::{RESTART_TOLD_MS, UPDATE_LOOK_MS};
use panelot_engine::ports::KeyValueArea;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::notice::EngineNotice;
use panelot_testkit::http::{end_steps, text_step};
use panelot_testkit::{Reply, SimPage, Stage, Step};

fn notices(page: &SimPage) -> Vec<EngineNotice> {
    let notice = |event: &AgentEvent| {
        if let AgentEvent::EngineNotice { notice } = event { Some(notice.clone()) } else { None }
    };
    page.inbox.iter().filter_map(|frame| notice(&frame.event)).collect()
}

fn later_page(stage: &Stage, number: u32) -> SimPage {
    let mut page = SimPage::open(&stage.world, &stage.engine, number, None);
    page.settle();
    page
}

/// Lets a page keep something for the browser's session, or nothing any more.
fn keep(stage: &Stage, name: &str, value: Option<&str>) {
    let task = stage.world.session.set(name, value.map(str::to_owned));
    let spawner = panelot_engine::ports::World::spawner(&stage.world);
    panelot_engine::ports::Spawner::spawn(
        spawner,
        Box::pin(async move {
            let _kept = task.await;
        }),
    );
    stage.world.scheduler.settle();
}

#[test]
fn pages_are_told_of_a_death_with_its_report_for_a_while() {
    let mut stage = Stage::new(70);
    stage.engine.replaces("the engine panicked at a.rs:1:1: no");
    stage.page.settle();
    let told = notices(&stage.page);
    let [EngineNotice::Restarted { report, .. }] = &told[..] else { panic!("{told:?}") };
    assert!(report.ends_with("the engine panicked at a.rs:1:1: no"), "{report}");
    assert_eq!(notices(&later_page(&stage, 60)), told);
    stage.page.advance(RESTART_TOLD_MS + 1);
    assert_eq!(notices(&later_page(&stage, 61)), []);
}

#[test]
fn an_update_is_put_in_place_at_once_when_nothing_would_be_lost() {
    let mut stage = Stage::new(71);
    stage.engine.update_available();
    stage.page.settle();
    assert_eq!(notices(&stage.page), [EngineNotice::UpdateReady {}]);
    assert_eq!(stage.world.notifier.shown().updates, 1);
}

#[test]
fn an_update_waits_for_a_run_and_every_page_is_told_once() {
    let mut stage = Stage::new(72);
    let mut body = vec![text_step("One"), Step::Wait(3 * UPDATE_LOOK_MS), text_step(" two.")];
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.world.http.push(Reply::text(&["Counting"]));
    stage.submit("Count");
    stage.page.advance(100);
    stage.engine.update_available();
    stage.engine.update_available();
    stage.page.advance(2 * UPDATE_LOOK_MS);
    assert_eq!((notices(&stage.page).len(), stage.world.notifier.shown().updates), (1, 0));
    assert_eq!(notices(&later_page(&stage, 60)), [EngineNotice::UpdateReady {}]);
    stage.page.advance(3 * UPDATE_LOOK_MS);
    assert_eq!(stage.world.notifier.shown().updates, 1);
}

#[test]
fn an_update_waits_for_what_pages_keep() {
    for name in ["outbox:one", "draft:new"] {
        let mut stage = Stage::new(73);
        keep(&stage, name, Some("x"));
        stage.engine.update_available();
        stage.page.advance(2 * UPDATE_LOOK_MS);
        assert_eq!(stage.world.notifier.shown().updates, 0, "{name}");
        keep(&stage, name, None);
        stage.page.advance(UPDATE_LOOK_MS);
        assert_eq!(stage.world.notifier.shown().updates, 1, "{name}");
    }
}
