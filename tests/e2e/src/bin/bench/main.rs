//! Measures the built bundle in one run of one browser, each number beside what it is to be compared with.

#![expect(clippy::indexing_slicing, reason = "an index into a JSON value that lacks it gives null")]

mod page;
mod sizes;
mod start;
mod stream;
mod threads;

use std::path::PathBuf;

use anyhow::{Result, ensure};
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

#[tokio::main]
async fn main() -> Result<()> {
    let dist = dist()?;
    let mut lines = sizes::measure(&dist)?;
    let options = LaunchOptions { also_load: vec![empty_extension()?], ..LaunchOptions::new(dist) };
    let world = World::start_with(|_: &ParsedRequest| Reply::text("not yet"), &options).await?;
    world.unwatch().await?;
    lines.extend(start::measure(&world).await?);
    lines.extend(page::measure(&world).await?);
    lines.extend(stream::measure(&world).await?);
    lines.extend(threads::measure(&world).await?);
    report(&lines);
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
