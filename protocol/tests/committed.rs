//! The committed manifests and hashes are those of the types.

use expect_test::expect_file;
use panelot_protocol::manifest::{committed_files, content_manifest, engine_manifest, hash};
use panelot_protocol::{CONTENT_SCRIPT_SCHEMA_HASH, ENGINE_SCHEMA_HASH};

/// `cargo xtask protocol write` accepts a change that is meant.
#[test]
fn the_committed_files_are_made_from_the_types() {
    let [(_, engine), (_, content), (_, hashes)] = committed_files();
    expect_file!["../schema/engine.txt"].assert_eq(&engine);
    expect_file!["../schema/content.txt"].assert_eq(&content);
    expect_file!["../schema/hashes.rs"].assert_eq(&hashes);
}

#[test]
fn the_constants_are_the_hashes_of_the_types() {
    assert_eq!(ENGINE_SCHEMA_HASH, hash(&engine_manifest()));
    assert_eq!(CONTENT_SCRIPT_SCHEMA_HASH, hash(&content_manifest()));
}
