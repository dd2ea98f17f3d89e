#!/usr/bin/env python3
"""A driver of a family, axes and quantities that nobody has heard of; otherwise the fake driver beside it.

It hands jobs to a pool of workers: an operation takes 1 us and 100 ns more for each worker, half of that without locks.
Until a worker has picked the job up takes twice as long: a stage that nobody has heard of.
"""

from __future__ import annotations

import math
import sys

import fake_answering
import fake_catalogue

AXES = {
    # The probe has it too: what is merged must be the same.
    "parent_bytes": fake_catalogue.axes()["parent_bytes"],
    "pool_workers": {"type": "count", "default": 1, "minimum": 1, "summary": "workers that wait for jobs"},
    "queue_kind": {
        "type": "choice",
        "default": "locked",
        "values": ["locked", "lock_free"],
        "summary": "the queue that jobs go through",
    },
}
COLUMNS = [
    ("submit_ns", "f64", "ns"),
    ("picked_up_ns", "f64", "ns"),
    ("retries", "i64", "count"),
    ("queue_each_bytes", "i64", "bytes"),
]
STAGES = {"picked_up_ns": "job_picked_up"}


def workloads():
    """One workload; its family's name is the driver's own."""
    return {
        "pool.submit": {
            "id": "pool.submit",
            "family": "job_pool",
            "summary": "a job is put into a queue, until the call returns",
            "axes": list(AXES),
            "temperatures": [],
            "quantities": [name for name, _, _ in COLUMNS],
            "nulls": {},
            "call_returns_contains": None,
            "available": True,
            "reason": None,
        }
    }


def catalogue():
    """What --describe prints."""
    driver = {"name": "invented", "version": "0.1.0", "language": "Python", "linkage": None, "protocol": 1}
    return {
        "driver": driver,
        "axes": AXES,
        "quantities": {name: {"unit": unit, "stage": STAGES.get(name), "summary": name} for name, _, unit in COLUMNS},
        "workloads": list(workloads().values()),
        "lacks": [],
    }


def measured(request, temperature, n_rows, rng, failing):
    """Columns, rows, how long they took, and how many failed."""
    submit_ns = 1000 + 100 * request["pool_workers"]
    submit_ns /= 2 if request["queue_kind"] == "lock_free" else 1
    times_ns = [submit_ns * rng.lognormvariate(0.0, 0.01) for _ in range(n_rows)]
    rows = [(time_ns, 2 * time_ns, 2, 64 * request["pool_workers"]) for time_ns in times_ns]
    return COLUMNS, rows, math.ceil(2 * sum(times_ns)), 0


if __name__ == "__main__":
    fake_answering.axes, fake_answering.workloads, fake_answering.catalogue = lambda: AXES, workloads, catalogue
    fake_answering.measured = measured
    raise SystemExit(fake_answering.main(sys.argv[1:]))
