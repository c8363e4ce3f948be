//! Counts what the forms send, and can hold the answer back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::provider::Gate;

/// One submission of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The values by field.
    pub values: Value,
}

#[derive(Default)]
pub(super) struct Submissions {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    by_form: HashMap<String, Vec<Submission>>,
    gates: HashMap<String, Gate>,
}

impl Submissions {
    /// Counts a submission, waits at the form's gate if it has one, and gives the number.
    pub(super) async fn add(&self, form: &str, values: Value) -> usize {
        let (number, gate) = {
            let mut inner = self.lock();
            let list = inner.by_form.entry(form.to_owned()).or_default();
            list.push(Submission { values });
            (list.len(), inner.gates.get(form).cloned())
        };
        if let Some(gate) = gate {
            gate.pass().await;
        }
        number
    }

    pub(super) fn of(&self, form: &str) -> Vec<Submission> {
        self.lock().by_form.get(form).cloned().unwrap_or_default()
    }

    pub(super) fn hold(&self, form: &str) -> Gate {
        self.lock().gates.entry(form.to_owned()).or_insert_with(|| Gate::new(form)).clone()
    }

    pub(super) fn open_all(&self) {
        for gate in self.lock().gates.values() {
            gate.open();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
