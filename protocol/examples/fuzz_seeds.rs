//! Writes valid messages of every variant as a corpus to start a fuzzer from: `fuzz_seeds FOLDER`.

use panelot_protocol::Shape;
use panelot_protocol::content::{ContentOp, ContentResult};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::op::Op;
use panelot_protocol::sample::{valid, variants};
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

const SEEDS_PER_VARIANT_COUNT: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("name the folder to write to")?;
    let folder = Path::new(&folder);
    write(&folder.join("decode_op"), variants(Op::SHAPE))?;
    write(&folder.join("decode_event"), variants(EventFrame::SHAPE))?;
    let results = ("result", valid(ContentResult::SHAPE));
    write(&folder.join("decode_content"), variants(ContentOp::SHAPE).into_iter().chain([results]))
}

fn write(
    folder: &Path,
    kinds: impl IntoIterator<Item = (&'static str, BoxedStrategy<Value>)>,
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut runner = TestRunner::deterministic();
    for (name, strategy) in kinds {
        for index in 0..SEEDS_PER_VARIANT_COUNT {
            let seed =
                strategy.new_tree(&mut runner).map_err(|reason| reason.message().to_owned())?.current();
            fs::write(folder.join(format!("{name}-{index}.json")), seed.to_string())?;
        }
    }
    Ok(())
}
