"""What the driver itself costs: the readings of a launch, with nothing launched.

Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is part
of each figure of this driver. Outside: storing the sample.
"""

from measure import now

_NOTHING = "nothing is launched"


def workloads(workload):
    return {
        "none": workload(
            "floor",
            "the driver's own readings, with nothing launched",
            ("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"),
            lambda _: (_launch, _end),
            nulls={"task_runs_ns": _NOTHING, "image_runs_ns": _NOTHING},
            api="time.monotonic_ns",
        )
    }


def _launch():
    before = now()
    returned = now()
    return before, returned, None, None, now()


def _end():
    pass
