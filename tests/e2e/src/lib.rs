//! End-to-end tests: the built bundle in a real Chromium, one file per user story.
