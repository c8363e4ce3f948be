//! What goes wrong in the world.

use crate::plan::{Fault, Strike};
use crate::run::{Simulation, TAB};
use crate::user::{EventFault, OpFault};
use panelot_engine::ports::{Clock, StoreError};
use panelot_testkit::{Interlude, Page};

impl Simulation {
    /// Lets a fault happen, or plans it.
    pub(crate) fn strike(&mut self, fault: Fault) {
        self.note(format!("{fault:?}"));
        match fault {
            Fault::TabClosed => self.world.browser.close(TAB),
            Fault::PageRendered => {
                let mut page = shop();
                page.elements.clear();
                self.world.browser.put(TAB, page);
            }
            Fault::TabNavigated => self.world.browser.put(TAB, elsewhere()),
            Fault::PageSlow(ms) => self.world.browser.put(TAB, Page { answer_ms: ms, ..shop() }),
            Fault::PageBack => self.world.browser.put(TAB, shop()),
            Fault::Strike(strike) => self.world.browser.plan(match strike {
                Strike::ClosedBefore => Interlude::ClosedBefore,
                Strike::ClosedAfter => Interlude::ClosedAfter,
                Strike::NavigatedAfter => Interlude::ReplacedAfter(Box::new(elsewhere())),
                Strike::SilentBefore => Interlude::SilentBefore,
                Strike::SilentAfter => Interlude::SilentAfter,
            }),
            Fault::DiskFull(commits) => {
                // Not on top of another one: a refusal that cannot be stored in several attempts is given unstored, and
                // the same message may be taken when it comes again.
                self.world.store.forget_faults();
                for _ in 0..commits {
                    self.world.store.fail_next_commit(StoreError::Full);
                }
            }
            Fault::CommitAborted => {
                let error = StoreError::Aborted("the browser had enough".to_owned());
                self.world.store.fail_next_commit(error);
            }
            Fault::CommitUnknown => {
                let error = StoreError::Unknown("the connection broke".to_owned());
                self.world.store.fail_next_commit(error);
            }
            Fault::OpLost(user) => self.users[user].op_fault.set(Some(OpFault::Lost)),
            Fault::OpTwice(user) => self.users[user].op_fault.set(Some(OpFault::Twice)),
            Fault::OpLate(user) => self.users[user].op_fault.set(Some(OpFault::Late)),
            Fault::EventLost(user) => self.users[user].event_fault = Some(EventFault::Lost),
            Fault::EventTwice(user) => self.users[user].event_fault = Some(EventFault::Twice),
            Fault::EventsSwapped(user) => self.users[user].event_fault = Some(EventFault::Swapped),
            Fault::ClockAhead(ms) => self.set_clock(self.world.scheduler.now_ms() + ms),
            Fault::ClockBack(ms) => self.set_clock(self.world.scheduler.now_ms() - ms),
            Fault::TwoWorkers(polls) => self.overlap(polls),
        }
    }

    fn set_clock(&mut self, now_ms: u64) {
        self.world.scheduler.set_clock(now_ms);
    }

    /// A new worker begins while the old one has a little to live. The pages connect to the new one.
    fn overlap(&mut self, polls: u64) {
        self.past.two_workers = true;
        self.world.scheduler.end_worker_after(self.workers, polls);
        self.begin_worker();
        for user in 0..self.users.len() {
            self.connect(user);
        }
    }
}

fn shop() -> Page {
    Page::with_button("https://shop.test/cart", "Order")
}

fn elsewhere() -> Page {
    Page { document: "doc2".to_owned(), ..Page::with_button("https://other.test/", "Order") }
}
