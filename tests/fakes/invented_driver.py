#!/usr/bin/env python3
"""A driver of a family, axes and quantities that nobody has heard of; otherwise the fake driver beside it.

It hands jobs to a pool of workers: an operation takes 1 us and 100 ns more for each worker, half of that without locks.
"""

from __future__ import annotations

import math
import sys

import fake_answering

AXES = {
    "pool_workers": {"type": "count", "default": 1, "minimum": 1, "summary": "workers that wait for jobs"},
    "queue_kind": {
        "type": "choice",
        "default": "locked",
        "values": ["locked", "lock_free"],
        "summary": "the queue that jobs go through",
    },
}
COLUMNS = [("submit_ns", "f64", "ns"), ("retries", "i64", "count"), ("queue_each_bytes", "i64", "bytes")]


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
        "quantities": {name: {"unit": unit, "stage": None, "summary": name} for name, _, unit in COLUMNS},
        "workloads": list(workloads().values()),
        "lacks": [],
    }


def measured(request, temperature, n_rows, rng, failing):
    """Columns, rows, how long they took, and how many failed."""
    submit_ns = 1000 + 100 * request["pool_workers"]
    submit_ns /= 2 if request["queue_kind"] == "lock_free" else 1
    rows = [(submit_ns * rng.lognormvariate(0.0, 0.01), 2, 64 * request["pool_workers"]) for _ in range(n_rows)]
    return COLUMNS, rows, math.ceil(sum(row[0] for row in rows)), 0


if __name__ == "__main__":
    fake_answering.axes, fake_answering.workloads, fake_answering.catalogue = lambda: AXES, workloads, catalogue
    fake_answering.measured = measured
    raise SystemExit(fake_answering.main(sys.argv[1:]))
