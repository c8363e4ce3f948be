//! The content script: collects facts from the DOM and performs actions.
