//! What happens in a life, as data: it can be written down, shortened and run again.

use panelot_testkit::Seeded;
use serde::{Deserialize, Serialize};

/// Steps of the longest plan.
const STEPS_COUNT_MAX: usize = 34;
/// Steps of the shortest plan.
const STEPS_COUNT_MIN: usize = 6;
/// Answers of the model that a plan may spoil; later ones are sound.
const SPOILS_COUNT: usize = 40;
/// Within how many polls after a step's begin a worker may die.
const KILL_POLLS_MAX: usize = 400;
/// The times that may pass in a step, in milliseconds.
const WAITS_MS: [u64; 9] = [0, 0, 4, 40, 900, 2_500, 21_000, 31_000, 130_000];

/// One life of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Decides what is not written here: ids, and the order in which tasks run.
    pub seed: u64,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// What is wrong with the model's answers, in the order of its calls; those that come later are sound.
    pub spoils: Vec<Option<Spoil>>,
    /// Whether, once the faults have stopped, every page closes first and the engine goes on alone.
    pub alone: bool,
    /// Whether tasks let the run wait for a user, a page or a time. Plans that were written down before are without.
    #[serde(default)]
    pub waits: bool,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Decides what the situation leaves open: which node, which words.
    pub chance: u64,
    /// What a user does.
    pub act: Option<Act>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// After how many polls the worker dies.
    pub kill_after_polls: Option<u64>,
    /// After how many polls the next worker dies, too.
    pub kill_again_after_polls: Option<u64>,
    /// How much time passes.
    pub wait_ms: u64,
    /// Whether the alarm goes off, if it is set.
    pub alarm: bool,
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// Which user.
    pub user: usize,
    /// What.
    pub deed: Deed,
}

/// The deeds of users. Each does what the page shows and the step's chance decides, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Says something: submits, queues or steers.
    Speak,
    /// Answers a question or a wait, resumes, or decides about a write.
    Decide,
    /// Stops the turn.
    Interrupt,
    /// Edits a message or asks for another answer.
    ForkTurn,
    /// Begins a thread at a node.
    ForkThread,
    /// Looks at another branch.
    SelectBranch,
    /// Removes a node.
    DeleteNode,
    /// Changes a thread's title, tags or place.
    EditThread,
    /// Deletes a thread.
    DeleteThread,
    /// Changes, removes or releases what waits.
    EditQueue,
    /// Changes a setting.
    EditSettings,
    /// Asks for a list, a page of items, the settings, or a sign of life.
    Ask,
    /// Makes a thread.
    CreateThread,
    /// Shows another thread.
    SwitchThread,
    /// Closes the page.
    Leave,
    /// Sends again what was answered.
    Repeat,
    /// Sends something else under an old submission.
    Misuse,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The tab is closed.
    TabClosed,
    /// The page renders anew: its elements are others.
    PageRendered,
    /// The tab shows another site.
    TabNavigated,
    /// The page answers slowly, in milliseconds.
    PageSlow(u64),
    /// The page is as it was.
    PageBack,
    /// Something happens to the page during the next exchange with it.
    Strike(Strike),
    /// The disk is full for so many commits.
    DiskFull(u8),
    /// The next commit is aborted.
    CommitAborted,
    /// The next commit holds, but the engine does not learn of it.
    CommitUnknown,
    /// The next message of a user's page is lost.
    OpLost(usize),
    /// The next message of a user's page comes twice.
    OpTwice(usize),
    /// The next message of a user's page comes after the one behind it.
    OpLate(usize),
    /// An event for a user's page is lost.
    EventLost(usize),
    /// An event for a user's page comes twice.
    EventTwice(usize),
    /// Two events for a user's page come in the other order.
    EventsSwapped(usize),
    /// The clock jumps ahead, in milliseconds.
    ClockAhead(u64),
    /// The clock is set back, in milliseconds.
    ClockBack(u64),
    /// A new worker begins while the old one has so many polls to live.
    TwoWorkers(u64),
}

/// What strikes during an exchange with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strike {
    /// The tab is closed before the message arrives.
    ClosedBefore,
    /// The tab is closed before the answer arrives.
    ClosedAfter,
    /// The page navigates before the answer arrives.
    NavigatedAfter,
    /// The page never acts.
    SilentBefore,
    /// The page acts and never answers.
    SilentAfter,
}

/// What is wrong with an answer of the model. Places are in thousandths of the body's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoil {
    /// The connection breaks at a byte.
    Broken {
        /// Where.
        at: u16,
    },
    /// The body ends at a byte as if it were whole.
    Ended {
        /// Where.
        at: u16,
    },
    /// The body ends without its closing mark.
    Unclosed,
    /// Nothing comes for a while.
    Pause {
        /// Where.
        at: u16,
        /// How long, in milliseconds.
        ms: u64,
    },
    /// Nothing comes any more.
    Hang {
        /// Where.
        at: u16,
    },
    /// It comes in pieces of so many bytes.
    Shredded {
        /// How many.
        bytes: u8,
    },
    /// The head is slow, in milliseconds.
    SlowHead(u64),
    /// The endpoint is overloaded.
    Overloaded,
    /// The endpoint asks for patience, in seconds.
    Later(u64),
    /// The endpoint refuses the key.
    Unauthorized,
    /// The answer reaches its limit.
    TooLong,
}

impl Plan {
    /// The plan of a seed.
    pub fn of(seed: u64) -> Self {
        let random = Seeded::new(seed ^ 0x0dd5_eed5);
        let count = STEPS_COUNT_MIN + random.below(STEPS_COUNT_MAX - STEPS_COUNT_MIN);
        let steps = (0..count).map(|_| step(&random)).collect();
        let spoils = (0..SPOILS_COUNT).map(|_| spoil(&random)).collect();
        let alone = random.below(3) == 0;
        Self { seed, steps, spoils, alone, waits: random.below(2) == 0 }
    }
}

fn step(random: &Seeded) -> Step {
    let polls = || u64::try_from(1 + random.below(KILL_POLLS_MAX)).unwrap();
    Step {
        chance: random.next(),
        act: (random.below(12) != 0).then(|| Act { user: random.below(2), deed: deed(random) }),
        fault: (random.below(5) == 0).then(|| fault(random)),
        kill_after_polls: (random.below(4) == 0).then(polls),
        kill_again_after_polls: (random.below(3) == 0).then(|| polls() / 6 + 1),
        wait_ms: WAITS_MS[random.below(WAITS_MS.len())],
        alarm: random.below(3) == 0,
    }
}

fn deed(random: &Seeded) -> Deed {
    match random.below(32) {
        0..=8 => Deed::Speak,
        9..=16 => Deed::Decide,
        17 | 18 => Deed::Interrupt,
        19 => Deed::ForkTurn,
        20 => Deed::ForkThread,
        21 => Deed::SelectBranch,
        22 => Deed::DeleteNode,
        23 => Deed::EditThread,
        24 => [Deed::DeleteThread, Deed::EditSettings, Deed::CreateThread][random.below(3)],
        25 | 26 => Deed::EditQueue,
        27 => Deed::Ask,
        28 => Deed::SwitchThread,
        29 => Deed::Leave,
        30 => Deed::Repeat,
        _ => Deed::Misuse,
    }
}

fn fault(random: &Seeded) -> Fault {
    let user = random.below(2);
    match random.below(24) {
        0 => Fault::TabClosed,
        1 => Fault::PageRendered,
        2 => Fault::TabNavigated,
        3 => Fault::PageSlow([300, 3_000][random.below(2)]),
        4 | 5 => Fault::PageBack,
        6..=8 => Fault::Strike(
            [
                Strike::ClosedBefore,
                Strike::ClosedAfter,
                Strike::NavigatedAfter,
                Strike::SilentBefore,
                Strike::SilentAfter,
            ][random.below(5)],
        ),
        9 | 10 => Fault::DiskFull([1, 1, 2, 3][random.below(4)]),
        11 => Fault::CommitAborted,
        12 | 13 => Fault::CommitUnknown,
        14 => Fault::OpLost(user),
        15 => Fault::OpTwice(user),
        16 => Fault::OpLate(user),
        17 => Fault::EventLost(user),
        18 => Fault::EventTwice(user),
        19 => Fault::EventsSwapped(user),
        20 => Fault::ClockAhead([70_000, 3_700_000][random.below(2)]),
        21 => Fault::ClockBack([1_500, 200_000][random.below(2)]),
        _ => Fault::TwoWorkers(u64::try_from(1 + random.below(120)).unwrap()),
    }
}

fn spoil(random: &Seeded) -> Option<Spoil> {
    let at = || u16::try_from(random.below(1_001)).unwrap();
    Some(match random.below(24) {
        0 | 1 => Spoil::Broken { at: at() },
        2 => Spoil::Ended { at: at() },
        3 => Spoil::Unclosed,
        4 => Spoil::Pause { at: at(), ms: [1_500, 25_000][random.below(2)] },
        5 => Spoil::Pause { at: at(), ms: 1_200 },
        6 => Spoil::Hang { at: at() },
        7 | 8 => Spoil::Shredded { bytes: u8::try_from(1 + random.below(40)).unwrap() },
        9 => Spoil::SlowHead(3_000),
        10 => Spoil::Overloaded,
        11 => Spoil::Later([3, 40][random.below(2)]),
        12 => Spoil::TooLong,
        13 => [None, None, Some(Spoil::Unauthorized)][random.below(3)]?,
        _ => return None,
    })
}
