//! The database of a simulation: the one in memory, with a moment before and after each access in which a worker can
//! die, and faults on demand.

use crate::sched::Scheduler;
use panelot_engine::ports::{Commit, Query, Row, Store, StoreError, Table};
use panelot_engine::store::MemoryStore;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;

/// A database that a test can make fail. Clones are handles to the same.
#[derive(Clone)]
pub struct SimStore {
    memory: MemoryStore,
    scheduler: Scheduler,
    faults: Rc<Faults>,
}

#[derive(Default)]
struct Faults {
    /// Errors of the next commits, one each.
    commits: RefCell<Vec<StoreError>>,
    /// Errors of the next reads, one each.
    read_errors: RefCell<VecDeque<StoreError>>,
    /// Whether nothing is answered.
    stuck: Cell<bool>,
    reads: Cell<u64>,
    commit_count: Cell<u64>,
    /// Looks at each commit that is about to be applied.
    watch: RefCell<Option<Watch>>,
}

/// Looks at a commit and the database as it was before it.
pub type Watch = Box<dyn FnMut(&Commit, &MemoryStore)>;

impl SimStore {
    /// An empty database.
    pub fn new(scheduler: Scheduler) -> Self {
        Self { memory: MemoryStore::default(), scheduler, faults: Rc::default() }
    }

    /// Makes the next commit fail; [`StoreError::Unknown`] is told after it was applied.
    pub fn fail_next_commit(&self, error: StoreError) {
        self.faults.commits.borrow_mut().push(error);
    }

    /// Makes the next read fail.
    pub fn fail_next_read(&self, error: StoreError) {
        self.faults.read_errors.borrow_mut().push_back(error);
    }

    /// Lets a function look at each commit that will be applied.
    pub fn set_watch(&self, watch: impl FnMut(&Commit, &MemoryStore) + 'static) {
        *self.faults.watch.borrow_mut() = Some(Box::new(watch));
    }

    /// Lets nobody look any more.
    pub fn forget_watch(&self) {
        *self.faults.watch.borrow_mut() = None;
    }

    /// From now on nothing fails.
    pub fn forget_faults(&self) {
        self.faults.commits.borrow_mut().clear();
        self.faults.read_errors.borrow_mut().clear();
        self.faults.stuck.set(false);
    }

    /// Makes every access wait for good, or no longer. What waits already stays so.
    pub fn set_stuck(&self, stuck: bool) {
        self.faults.stuck.set(stuck);
    }

    /// Reads so far: round trips.
    pub fn reads(&self) -> u64 {
        self.faults.reads.get()
    }

    /// Commits so far.
    pub fn commits(&self) -> u64 {
        self.faults.commit_count.get()
    }

    /// All rows of a table.
    pub fn table(&self, table: Table) -> Vec<Row> {
        self.memory.table(table)
    }

    /// The database itself.
    pub fn memory(&self) -> &MemoryStore {
        &self.memory
    }
}

impl Store for SimStore {
    fn read(&self, queries: Vec<Query>) -> impl Future<Output = Result<Vec<Vec<Row>>, StoreError>> + 'static {
        let this = self.clone();
        async move {
            this.faults.reads.set(this.faults.reads.get() + 1);
            this.pass().await;
            if let Some(error) = this.faults.read_errors.borrow_mut().pop_front() {
                return Err(error);
            }
            Ok(this.memory.read_now(&queries))
        }
    }

    fn commit(&self, commit: Commit) -> impl Future<Output = Result<(), StoreError>> + 'static {
        let this = self.clone();
        async move {
            this.pass().await;
            let fault = {
                let mut faults = this.faults.commits.borrow_mut();
                if faults.is_empty() { None } else { Some(faults.remove(0)) }
            };
            match fault {
                Some(StoreError::Unknown(why)) => {
                    this.apply(&commit)?;
                    return Err(StoreError::Unknown(why));
                }
                Some(error) => return Err(error),
                None => this.apply(&commit)?,
            }
            this.faults.commit_count.set(this.faults.commit_count.get() + 1);
            this.scheduler.pause().await;
            Ok(())
        }
    }
}

impl SimStore {
    fn apply(&self, commit: &Commit) -> Result<(), StoreError> {
        self.memory.check_now(commit)?;
        if let Some(watch) = &mut *self.faults.watch.borrow_mut() {
            watch(commit, &self.memory);
        }
        self.memory.commit_now(commit)
    }

    async fn pass(&self) {
        self.scheduler.pause().await;
        if self.faults.stuck.get() {
            std::future::pending::<()>().await;
        }
    }
}
