//! `cargo xtask package`: the zip for the store, built twice to show that the bytes depend on the sources alone.

use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::build::{self, Browser, Bundle, Profile};
use crate::progress;
use crate::setup::Setup;

/// Builds the bundle in two target directories, compares the zips and writes one to `dist/`.
///
/// # Errors
/// When a build fails, or the two differ: the first file that does is named.
pub fn package(setup: &Setup, browser: Browser) -> Result<PathBuf> {
    let target = &setup.paths.target;
    let first = build::assemble(setup, browser, Profile::Release, target)?;
    progress::step("building once more from nothing, to compare the bytes");
    let again = target.join("again");
    if again.exists() {
        fs_err::remove_dir_all(&again)?;
    }
    let second = build::assemble(setup, browser, Profile::Release, &again)?;
    if let Some(path) = first_difference(&first, &second) {
        bail!(
            "two builds of the same sources differ in {path}: compare {} with {}",
            target.display(),
            again.display()
        );
    }
    let bytes = zip_bytes(&first)?;
    if bytes != zip_bytes(&second)? {
        bail!("two zips of the same files differ");
    }
    fs_err::remove_dir_all(&again)?;

    let name = format!("panelot-{}-{}.zip", env!("CARGO_PKG_VERSION"), browser.name());
    let file = setup.paths.root.join("dist").join(name);
    fs_err::create_dir_all(setup.paths.root.join("dist"))?;
    fs_err::write(&file, &bytes)?;
    progress::note(&format!("{} ({} KiB), twice the same bytes", file.display(), bytes.len() / 1024));
    Ok(file)
}

fn first_difference<'a>(first: &'a Bundle, second: &'a Bundle) -> Option<&'a str> {
    let only_here = |one: &'a Bundle, other: &Bundle| {
        one.iter().find(|(path, bytes)| other.get(path) != Some(bytes)).map(|(path, _)| path)
    };
    only_here(first, second).or_else(|| only_here(second, first))
}

/// A zip with the files in the order of their paths, one time stamp and one mode.
fn zip_bytes(bundle: &Bundle) -> Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (path, bytes) in bundle.iter() {
        writer.start_file(path, options).with_context(|| format!("zip {path}"))?;
        writer.write_all(bytes).with_context(|| format!("zip {path}"))?;
    }
    Ok(writer.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(files: &[(&str, &str)]) -> Bundle {
        let mut bundle = Bundle::default();
        for (path, text) in files {
            bundle.put(path, text.as_bytes().to_vec()).unwrap();
        }
        bundle
    }

    #[test]
    fn the_same_files_give_the_same_zip_in_whatever_order_they_came() {
        let one = zip_bytes(&bundle(&[("a.js", "1"), ("b.js", "2")])).unwrap();
        let other = zip_bytes(&bundle(&[("b.js", "2"), ("a.js", "1")])).unwrap();
        assert_eq!(one, other);
    }

    #[test]
    fn the_first_file_that_differs_is_named() {
        let one = bundle(&[("a.js", "1"), ("b.js", "2")]);
        assert_eq!(first_difference(&one, &one.clone()), None);
        assert_eq!(first_difference(&one, &bundle(&[("a.js", "1"), ("b.js", "3")])), Some("b.js"));
        assert_eq!(
            first_difference(&one, &bundle(&[("a.js", "1"), ("b.js", "2"), ("c.js", "")])),
            Some("c.js")
        );
    }
}
