//! Sizes of the bundle's files: raw, gzip, brotli.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Measured;

/// The files that matter, by their names in the bundle.
const FILES: [&str; 7] =
    ["engine_bg.wasm", "engine.js", "ui_bg.wasm", "ui.js", "content.js", "content-strict.js", "panelot.css"];

/// Compresses standard input's files as a server would, and prints raw, gzip and brotli bytes of each.
const COMPRESS: &str = "const fs = require('fs'), zlib = require('zlib');
for (const file of process.argv.slice(1)) {
    const raw = fs.readFileSync(file);
    console.log([raw.length, zlib.gzipSync(raw, { level: 9 }).length, zlib.brotliCompressSync(raw).length].join(' '));
}";

pub(super) fn measure(dist: &Path) -> Result<Vec<Measured>> {
    let files: Vec<&str> = FILES.into_iter().filter(|file| dist.join(file).is_file()).collect();
    let output = Command::new("node")
        .args(["-e", COMPRESS])
        .args(files.iter().map(|file| dist.join(file)))
        .output()
        .context("cannot start node; run `cargo xtask setup`")?;
    ensure!(output.status.success(), "node failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let line = |(file, sizes): (&&str, &str)| {
        let sizes: Vec<String> = sizes.split(' ').map(kibibytes).collect();
        let raw = sizes.first().cloned().unwrap_or_default();
        let packed = sizes.get(1..).unwrap_or_default().join(" gzip, ");
        Measured::new(format!("size of {file}"), raw, format!("{packed} brotli"))
    };
    Ok(files.iter().zip(text.lines()).map(line).collect())
}

fn kibibytes(bytes: &str) -> String {
    let bytes: f64 = bytes.parse().unwrap_or(f64::NAN);
    format!("{:.1} KiB", bytes / 1024.0)
}
