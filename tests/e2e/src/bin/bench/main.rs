//! Measures the built bundle in one run of one browser, each number beside what it is to be compared with.

#![expect(clippy::indexing_slicing, reason = "an index into a JSON value that lacks it gives null")]

mod latency;
mod memory;
mod page;
mod sizes;
mod start;
mod stream;
mod threads;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use panelot_driver::LaunchOptions;
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::{World, dist, workspace};

/// One line of the report.
struct Measured {
    what: String,
    value: String,
    /// What it is compared with, or how it was reached.
    beside: String,
    /// A limit that was missed, as a sentence.
    missed: Option<String>,
}

impl Measured {
    fn new(what: impl Into<String>, value: impl Into<String>, beside: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), beside: beside.into(), missed: None }
    }

    /// Marks the line when a limit was not kept.
    fn must(mut self, kept: bool, rule: &str) -> Self {
        if !kept {
            self.missed = Some(format!("{}: {} ({})", self.what, rule, self.value));
        }
        self
    }
}

/// What is measured, by the name that chooses it alone. The last takes minutes, and is measured only by its name.
const PARTS: [&str; 7] = ["sizes", "start", "latency", "page", "stream", "threads", "memory"];

#[tokio::main]
async fn main() -> Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    for part in &chosen {
        ensure!(PARTS.contains(&part.as_str()), "`{part}` is none of: {}", PARTS.join(", "));
    }
    let is_chosen = |part: &str| match chosen.as_slice() {
        [] => part != "memory",
        chosen => chosen.iter().any(|one| one == part),
    };
    let dist = dist()?;
    // Times on a machine that has other work say little.
    if let Ok(load) = std::fs::read_to_string("/proc/loadavg") {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        println!("load {} on {processors} processors", load.split(' ').next().unwrap_or_default());
    }
    let mut lines = Vec::new();
    let options = LaunchOptions { also_load: vec![empty_extension()?], ..LaunchOptions::new(dist.clone()) };
    let world = World::start_with(|_: &ParsedRequest| Reply::text("not yet"), &options).await?;
    world.unwatch().await?;
    for part in PARTS.into_iter().filter(|part| is_chosen(part)) {
        let measured = match part {
            "sizes" => sizes::measure(&dist),
            "start" => start::measure(&world).await,
            "latency" => latency::measure(&world).await,
            "page" => page::measure(&world).await,
            "stream" => stream::measure(&world).await,
            "threads" => threads::measure(&world).await,
            _ => memory::measure(&world).await,
        };
        let measured = measured.with_context(|| format!("while measuring {part}"))?;
        report(&measured);
        lines.extend(measured);
    }
    world.end()?;
    let missed: Vec<&str> = lines.iter().filter_map(|line| line.missed.as_deref()).collect();
    ensure!(missed.is_empty(), "limits that were not kept:\n  {}", missed.join("\n  "));
    Ok(())
}

/// An extension whose worker does nothing but answer.
fn empty_extension() -> Result<PathBuf> {
    Ok(workspace()?.join("tests/driver/tests/extension"))
}

fn report(lines: &[Measured]) {
    let width =
        |text: fn(&Measured) -> &str| lines.iter().map(|line| text(line).chars().count()).max().unwrap_or(0);
    let (what, value) = (width(|line| &line.what), width(|line| &line.value));
    for line in lines {
        let mark = if line.missed.is_some() { "  <-- over its limit" } else { "" };
        println!("{:what$}  {:>value$}  {}{mark}", line.what, line.value, line.beside);
    }
}

/// The middle value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn milliseconds(value: f64) -> String {
    format!("{value:.1} ms")
}
