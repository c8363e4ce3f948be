//! Fifty kills of the worker, at moments that chance chooses, during one task of twenty tool calls.
//!
//! The user approves, lets go on what was cut, and looks at the page where it is not known whether something happened.
//! The page's server counts what was done. A failure prints the seed: `PANELOT_KILL_SEED` repeats its choices, though not
//! the machine's timing.

use std::cell::Cell;
use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use panelot_driver::browser::Page;
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::{
    Fault, Outcome, ParsedRequest, Piece, RecordedRequest, Reply, snapshot_nodes,
};
use panelot_driver::until;
use panelot_e2e::{WITHIN, World, stored};
use panelot_engine::store::records::{NodePayload, RunState, StoredNode, StoredRun, StoredThread};
use panelot_protocol::item::NoticeKind;
use panelot_testkit::Seeded;
use serde::Deserialize;
use serde_json::json;

/// The variable that names the seed.
const SEED_VARIABLE: &str = "PANELOT_KILL_SEED";
/// How many buttons the page has; each is read for and pressed, so that there are twice as many calls.
const STEPS: usize = 10;
/// Kills around each of them.
const KILLS_PER_STEP: usize = 5;
/// A kill comes at most so long after its moment has begun.
const KILL_DELAY_MS_MAX: u64 = 250;
/// How long the title and each half of an answer take, so that they can be hit.
const PACE_MS: u64 = 80;
/// How long the user looks at the page before they say that nothing happened.
const LOOK_MS: u64 = 1_000;
/// How long a provider that is hit in a retry wait asks to be left alone.
const RETRY_S: u64 = 5;
const TASK: &str = "Do all ten steps.";
const END: &str = "All ten steps are done.";

/// When the worker is killed; a short random time is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// The title is being found.
    Title,
    /// The answer streams.
    Stream,
    /// The provider refused, and the engine waits.
    RetryWait,
    /// The answer is whole; its call is looked at or runs.
    Answered,
    /// The user is asked.
    Approval,
    /// The user has just let a press happen.
    Tool,
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Todo {
    Kill,
    Approve(String),
    Continue,
    Resolve { step: usize },
    End,
}

/// What the page shows.
#[derive(Debug, Deserialize)]
struct Sight {
    approval: Option<String>,
    awake: bool,
    recovery: Option<String>,
    question: String,
    busy: bool,
}

const SIGHT: &str = "() => {
    const one = (name) => document.querySelector(`[data-testid=${name}]`);
    const busy = one('stop') || one('outgoing') || document.querySelector('[data-status=running]');
    return {
        approval: one('approval')?.dataset.approval ?? null, awake: one('approval')?.dataset.awake === 'true',
        recovery: one('recovery')?.dataset.reason ?? null, question: one('recovery')?.innerText ?? '', busy: Boolean(busy),
    };
}";

/// The model: reads the page, presses the first step that is not done, and reads again.
fn stepper(request: &ParsedRequest) -> Reply {
    let pace = Piece::Pause(Duration::from_millis(PACE_MS));
    if !request.offers("read_page") {
        return Reply::new().with(pace.clone()).with(pace).say("Ten steps");
    }
    let results = request.all_results();
    let slowly = |words: &str| Reply::text("I go on: ").with(pace.clone()).say(words).with(pace.clone());
    let Some(reading) = results.last().filter(|last| last.name == "read_page") else {
        return slowly("first a look.").and_call("read_page", json!({}));
    };
    let done = (1..=STEPS).take_while(|step| reading.text.contains(&format!("Step {step} is done"))).count();
    if done == STEPS {
        // Long enough for every kill that is left to hit it.
        let long = Piece::Pause(2 * Duration::from_millis(KILL_DELAY_MS_MAX));
        return slowly("there is no more.").with(long).say(format!(" {END}"));
    }
    let name = format!("Step {}", done + 1);
    match snapshot_nodes(&reading.text).into_iter().find(|node| node.name == name && node.role == "button") {
        Some(button) => slowly("one more step.").and_call("click", json!({ "ref": button.reference })),
        None => slowly("I see no step.").and_call("read_page", json!({})),
    }
}

/// The moments in the order in which a task comes by them, so that each can be reached.
fn plan(random: &Seeded) -> VecDeque<Moment> {
    let mut plan = VecDeque::new();
    for step in 0..STEPS {
        let mut moments = if step == 0 { vec![Moment::Title] } else { Vec::new() };
        while moments.len() < KILLS_PER_STEP {
            let once = [Moment::RetryWait, Moment::Answered, Moment::Tool];
            let moment = match random.below(6) {
                0 | 1 => Moment::Stream,
                2 => Moment::RetryWait,
                3 => Moment::Answered,
                4 => Moment::Approval,
                _ => Moment::Tool,
            };
            if !(once.contains(&moment) && moments.contains(&moment)) {
                moments.push(moment);
            }
        }
        moments.sort_unstable();
        plan.extend(moments);
    }
    plan
}

/// The user, and the one who kills.
struct Story {
    world: World,
    page: Page,
    chat: Chat,
    random: Seeded,
    plan: VecDeque<Moment>,
    /// Requests before this number are over for the plan.
    requests_seen: Cell<usize>,
    /// Whether the fault of the next retry wait is ordered.
    refusing: Cell<bool>,
    kills: usize,
    resolved: usize,
}

fn is_chat(one: &RecordedRequest) -> bool {
    one.request.offers("read_page")
}

impl Story {
    /// The moment of the next kill. After the last press there are only answers left to hit.
    fn moment(&self) -> Option<Moment> {
        let moment = self.plan.front().copied();
        if done(&self.world).len() < STEPS { moment } else { moment.map(|_| Moment::Stream) }
    }

    /// Whether the moment of the next kill has come.
    fn is_due(&self, sight: &Sight) -> bool {
        let requests = self.world.provider.requests();
        let newest = requests.iter().skip(self.requests_seen.get()).rfind(|one| is_chat(one));
        let ended = |outcome| newest.is_some_and(|one| one.outcome == outcome);
        match self.moment() {
            None | Some(Moment::Tool) => false,
            Some(Moment::Title) => {
                requests.iter().any(|one| !is_chat(one) && one.outcome == Outcome::Running)
            }
            Some(Moment::Stream) => ended(Outcome::Running),
            Some(Moment::RetryWait) => {
                if !self.refusing.replace(true) {
                    self.world.provider.fail_next(Fault::rate_limit(Duration::from_secs(RETRY_S)));
                }
                ended(Outcome::Faulted)
            }
            Some(Moment::Answered) => ended(Outcome::Sent),
            Some(Moment::Approval) => sight.approval.is_some(),
        }
    }

    async fn look(&self) -> Result<Option<Todo>> {
        let sight: Sight = self.chat.page.call(SIGHT, &[]).await?;
        if self.is_due(&sight) {
            return Ok(Some(Todo::Kill));
        }
        if let Some(approval) = sight.approval {
            return Ok(sight.awake.then_some(Todo::Approve(approval)));
        }
        match sight.recovery.as_deref() {
            Some("interrupted") => return Ok(Some(Todo::Continue)),
            Some("uncertain") => {
                let step = step_named_in(&sight.question).context(sight.question)?;
                return Ok(Some(Todo::Resolve { step }));
            }
            Some(_) | None => {}
        }
        let last = self.chat.last("message-assistant").await?;
        let ended = !sight.busy && last.is_some_and(|last| last.text.contains(END));
        Ok(ended.then_some(Todo::End))
    }

    async fn kill(&mut self) -> Result<()> {
        let delay_ms = self.random.next() % KILL_DELAY_MS_MAX;
        // No condition is waited for here: chance says when the worker dies.
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        self.world.browser.worker_target().await?;
        self.world.browser.stop_worker().await?;
        self.kills += 1;
        self.plan.pop_front();
        self.refusing.set(false);
        self.requests_seen.set(self.world.provider.requests().len());
        Ok(())
    }

    /// Presses a button of the card by keyboard and waits until the card is gone.
    async fn press(&self, button: &str) -> Result<()> {
        self.chat.page.focus(&by_test_id(button)).await?;
        self.chat.page.press("Enter").await?;
        self.chat.page.disappears(&by_test_id(button)).await
    }

    /// Looks at the page for a while, and says what is seen there.
    async fn resolve(&mut self, step: usize) -> Result<()> {
        self.resolved += 1;
        // A page that is in the middle of the press answers after it.
        self.page.evaluate::<u32>("1").await?;
        let look = Duration::from_millis(LOOK_MS);
        let seen = until("the step", look, || async { Ok(done(&self.world).contains(&step).then_some(())) });
        let seen = seen.await.is_ok();
        self.press(if seen { "mark-done" } else { "retry" }).await
    }

    async fn play(&mut self) -> Result<()> {
        self.chat.submit(TASK).await?;
        loop {
            match until("something to do", WITHIN, || self.look()).await? {
                Todo::Kill => self.kill().await?,
                Todo::Approve(approval) => {
                    self.chat.decide(&approval, "y").await?;
                    if self.moment() == Some(Moment::Tool) {
                        self.kill().await?;
                    }
                }
                Todo::Continue => self.press("continue").await?,
                Todo::Resolve { step } => self.resolve(step).await?,
                Todo::End => return Ok(()),
            }
        }
    }
}

/// The steps that the page's server has heard of, in their order.
fn done(world: &World) -> Vec<usize> {
    let steps = world.site.submissions("steps");
    let step =
        |values: &serde_json::Value| values["step"].as_u64().and_then(|step| usize::try_from(step).ok());
    steps.iter().filter_map(|submission| step(&submission.values)).collect()
}

/// The number behind the word "Step" in a question.
fn step_named_in(question: &str) -> Option<usize> {
    let (_, behind) = question.split_once("Step ")?;
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn seed() -> Result<u64> {
    match std::env::var(SEED_VARIABLE) {
        Ok(seed) => seed.parse().with_context(|| format!("{SEED_VARIABLE}: must be a number")),
        Err(_) => Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_in_a_task_of_twenty_calls_cost_no_step_and_do_none_twice() -> Result<()> {
    let seed = seed()?;
    eprintln!("{SEED_VARIABLE}={seed}");
    let random = Seeded::new(seed);
    let plan = plan(&random);
    let planned = plan.len();
    let world = World::start(stepper).await?;
    let (page, chat) = world.chat_beside("fixtures/steps.html").await?;
    world.unwatch().await?;
    let mut story = Story {
        world,
        page,
        chat,
        random,
        plan,
        requests_seen: Cell::new(0),
        refusing: Cell::new(false),
        kills: 0,
        resolved: 0,
    };
    let played = story.play().await;
    let state = format!("{} kills, next {:?}, done {:?}", story.kills, story.moment(), done(&story.world));
    if let Err(failure) = played {
        return Err(failure.context(format!("{state}; {SEED_VARIABLE}={seed}; {}", story.chat.shown().await)));
    }
    eprintln!("{state}; {} uncertain presses", story.resolved);
    assert_eq!((story.kills, story.plan.len()), (planned, 0));
    assert_eq!(done(&story.world), (1..=STEPS).collect::<Vec<_>>());
    compare_with_store(&story).await?;
    story.world.end()
}

/// What the page shows, what a page shows that comes later, and what is stored are the same.
async fn compare_with_store(story: &Story) -> Result<()> {
    let threads: Vec<StoredThread> = stored::records(&story.chat.page).await?;
    let [thread] = threads.as_slice() else { anyhow::bail!("{} threads instead of one", threads.len()) };
    let nodes: Vec<StoredNode> = stored::records(&story.chat.page).await?;
    let path = stored::path(thread, &nodes)?;
    ensure!(path.len() == nodes.len(), "{} of {} nodes are on the path", path.len(), nodes.len());
    let runs: Vec<StoredRun> = stored::records(&story.chat.page).await?;
    assert!(runs.iter().all(|run| matches!(run.state, RunState::Completed { .. })), "{runs:#?}");
    let count = |wanted: fn(&NodePayload) -> bool| path.iter().filter(|node| wanted(&node.payload)).count();
    let calls = count(|payload| matches!(payload, NodePayload::ToolCall { .. }));
    let results = count(|payload| matches!(payload, NodePayload::ToolResult { .. }));
    let asked = count(|payload| {
        matches!(payload, NodePayload::SystemNotice { notice: NoticeKind::UncertainWrite, .. })
    });
    assert!(calls >= 2 * STEPS, "{calls} calls");
    assert_eq!((results, asked), (calls, story.resolved));
    let expected = stored::lines(&path);
    for chat in [story.chat.clone(), Chat::open(&story.world.browser).await?] {
        if chat.page.target() != story.chat.page.target() {
            chat.page.click(&by_test_id("thread-open")).await?;
            chat.page.shows(END).await?;
        }
        while chat.page.count(&by_test_id("earlier")).await? > 0 {
            let before = stored::shown(&chat.page).await?.len();
            chat.page.click(&by_test_id("earlier")).await?;
            until("older messages", WITHIN, || async {
                Ok((stored::shown(&chat.page).await?.len() > before).then_some(()))
            })
            .await?;
        }
        assert_eq!(stored::shown(&chat.page).await?, expected);
    }
    Ok(())
}
