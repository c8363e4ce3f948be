//! Simulated ports, scripted provider and browser, fault plan, seeded scheduler.

pub mod store_contract;
