//! Randomness from a seed.

use panelot_engine::ports::Entropy;
use std::cell::Cell;
use std::rc::Rc;

/// A generator that a seed determines (splitmix64). Clones share its state.
#[derive(Debug, Clone)]
pub struct Seeded {
    state: Rc<Cell<u64>>,
}

impl Seeded {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: Rc::new(Cell::new(seed)) }
    }

    /// The next 64 bits.
    pub fn next(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&self, bound: usize) -> usize {
        (self.next() % u64::try_from(bound).unwrap()).try_into().unwrap()
    }
}

impl Entropy for Seeded {
    fn uuid(&self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (low >> 48) & 0xfff,
            low & 0xffff_ffff_ffff
        )
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn unit(&self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
