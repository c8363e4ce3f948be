//! Deterministic simulation of the whole engine: workload, model, properties, seeds.
