//! Drives Chromium over CDP and serves the demo provider and the fixture sites.
