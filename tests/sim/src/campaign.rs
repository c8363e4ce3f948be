//! Many seeds on every core, with what came of them; long runs can be stopped and go on later.

use crate::run::run_seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seeds that a core takes at once.
const BLOCK_SEEDS_COUNT: u64 = 20;
/// How often progress is told and stored.
const TELL_INTERVAL: Duration = Duration::from_secs(5);

/// How far a long run is. A JSON file of it is what a later call goes on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The first seed.
    pub from: u64,
    /// The seed behind the last.
    pub until: u64,
    /// The first seeds of the blocks that are done.
    pub done: BTreeSet<u64>,
    /// Every seed before this one is done, too.
    pub done_before: u64,
    /// Workers killed so far.
    pub kills: u64,
    /// Writes to pages so far.
    pub writes: u64,
    /// The seeds that failed, each with its first problem.
    pub failed: Vec<(u64, String)>,
}

impl Progress {
    /// A run that was not begun.
    pub fn new(seeds: Range<u64>) -> Self {
        Self {
            from: seeds.start,
            until: seeds.end,
            done: BTreeSet::new(),
            done_before: seeds.start,
            kills: 0,
            writes: 0,
            failed: Vec::new(),
        }
    }

    /// The run of a state file if it is there and of the same seeds, else a new one.
    ///
    /// # Errors
    /// When the file cannot be read, or is of other seeds.
    pub fn load(file: &Path, seeds: Range<u64>) -> io::Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::new(seeds)),
            Err(error) => return Err(error),
        };
        let progress: Self = serde_json::from_str(&text)?;
        if progress.from != seeds.start || progress.until != seeds.end {
            let (from, count) = (progress.from, progress.until - progress.from);
            let message = format!("{} is of --from {from} --seeds {count}", file.display());
            return Err(io::Error::other(message));
        }
        Ok(progress)
    }

    /// Stores it, so that a crash in the middle leaves the file as it was.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn store(&self, file: &Path) -> io::Result<()> {
        let part = file.with_extension("part");
        fs::write(&part, serde_json::to_string(self)?)?;
        fs::rename(part, file)
    }

    /// How many seeds are done.
    pub fn done_count(&self) -> u64 {
        let blocks: u64 = self.done.iter().map(|first| self.block(*first).end - first).sum();
        self.done_before - self.from + blocks
    }

    fn block(&self, first: u64) -> Range<u64> {
        first..(first + BLOCK_SEEDS_COUNT).min(self.until)
    }

    /// The blocks that are left.
    fn left(&self) -> Vec<Range<u64>> {
        let firsts = (self.done_before..self.until).step_by(usize::try_from(BLOCK_SEEDS_COUNT).unwrap());
        firsts.filter(|first| !self.done.contains(first)).map(|first| self.block(first)).collect()
    }

    fn finish(&mut self, block: &Block) {
        self.done.insert(block.first);
        self.kills += block.kills;
        self.writes += block.writes;
        self.failed.extend(block.failed.iter().cloned());
        while self.done.remove(&self.done_before) {
            self.done_before = self.block(self.done_before).end;
        }
    }
}

/// What came of some seeds.
#[derive(Default)]
struct Block {
    first: u64,
    kills: u64,
    writes: u64,
    failed: Vec<(u64, String)>,
}

fn run_block(seeds: Range<u64>) -> Block {
    let mut block = Block { first: seeds.start, ..Block::default() };
    for seed in seeds {
        let outcome = run_seed(seed);
        block.kills += u64::from(outcome.kills);
        block.writes += u64::try_from(outcome.writes).unwrap();
        if let Some(problem) = outcome.problems.into_iter().next() {
            block.failed.push((seed, problem));
        }
    }
    block
}

/// Runs what is left of a long run on every core. `tell` gets the progress every few seconds and at the end, with how
/// many seeds each second took since this call.
pub fn run(progress: Progress, tell: impl FnMut(&Progress, f64) + Send) -> Progress {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (blocks, next) = (progress.left(), AtomicU64::new(0));
    let (begun, before) = (Instant::now(), progress.done_count());
    let shared = Mutex::new((progress, tell, Instant::now()));
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap();
                    let Some(seeds) = blocks.get(number) else { return };
                    let block = run_block(seeds.clone());
                    let mut shared = shared.lock().expect("a core that fails ends the run");
                    let (progress, tell, told) = &mut *shared;
                    progress.finish(&block);
                    if told.elapsed() >= TELL_INTERVAL {
                        *told = Instant::now();
                        tell(progress, rate(progress, before, begun));
                    }
                }
            });
        }
    });
    let (progress, mut tell, _) = shared.into_inner().expect("a core that fails ends the run");
    tell(&progress, rate(&progress, before, begun));
    progress
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn rate(progress: &Progress, before: u64, begun: Instant) -> f64 {
    (progress.done_count() - before) as f64 / begun.elapsed().as_secs_f64().max(0.001)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: u64) -> Block {
        Block { first, kills: 1, writes: 2, failed: vec![(first, "a problem".to_owned())] }
    }

    #[test]
    fn blocks_that_end_in_any_order_are_counted_once_and_what_is_left_is_the_rest() {
        let mut progress = Progress::new(5..70);
        progress.finish(&block(45));
        progress.finish(&block(5));
        assert_eq!(
            (progress.done_before, progress.done_count(), progress.left()),
            (25, 40, vec![25..45, 65..70])
        );
        progress.finish(&block(25));
        progress.finish(&block(65));
        assert_eq!((progress.done_before, progress.done_count(), progress.left()), (70, 65, vec![]));
        assert_eq!(progress.failed.len(), 4);
    }

    #[test]
    fn a_stored_run_goes_on_and_one_of_other_seeds_is_refused() {
        let file = std::env::temp_dir().join(format!("panelot-sim-{}.json", std::process::id()));
        let mut progress = Progress::load(&file, 0..100).unwrap();
        progress.finish(&block(20));
        progress.store(&file).unwrap();
        assert_eq!(Progress::load(&file, 0..100).unwrap(), progress);
        let error = Progress::load(&file, 0..200).unwrap_err();
        assert_eq!(error.to_string(), format!("{} is of --from 0 --seeds 100", file.display()));
        fs::remove_file(file).unwrap();
    }
}
