//! What the driver itself costs: the readings of a launch, with nothing launched.
//!
//! Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is part
//! of each figure of this driver. Outside: storing the sample.

use crate::sys::now;
use crate::workload::Workload;

const NOTHING: &str = "nothing is launched";

pub fn workloads() -> Vec<Workload> {
    vec![Workload {
        id: "none".to_string(),
        family: "floor",
        summary: "the driver's own readings, with nothing launched",
        stages: &["call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"],
        axes: vec![],
        nulls: &[("task_runs_ns", NOTHING), ("image_runs_ns", NOTHING)],
        contains: None,
        api: "clock_gettime",
        path: None,
        prepare: |_| {
            Ok(Box::new(|stamps| {
                stamps[0] = now();
                stamps[1] = now();
                stamps[4] = now();
                Ok(())
            }))
        },
    }]
}
