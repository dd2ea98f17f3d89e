"""Whole programs whose workers compute and write, as threads and as processes."""

from clonometer.families.common import number
from clonometer.families.types import CROWD, Axis, Condition, Cost, CurveShape, Family, WorkerColumn

# A worker, one trial division, one number that is written to a buffer, and one that is a write() of its own.
_WORKER_NS = 100_000.0
_DIVISION_NS = 2.5
_NUMBER_NS = 100.0
_WRITE_NS = 1_500.0
# How many of them run at once on a small machine.
_CPUS = 2


def _numbers_cost(condition: Condition) -> Cost:
    """What workers take at their work: they are waited for all together."""
    numbers, workers = number(condition, "numbers"), number(condition, "workers")
    divisions = numbers**1.5 / 4 if condition.get("cutoff") == "sqrt" else numbers**2 / 10
    each_ns = _WORKER_NS + divisions * _DIVISION_NS + numbers * _NUMBER_NS
    if condition.get("writing") == "each_number":
        each_ns += numbers * _WRITE_NS
    return Cost(wait_ns=workers * each_ns / max(1, min(workers, _CPUS)))


FAMILY = Family(
    "work",
    title="Workers",
    explanation="Whole programs whose workers compute and write: launching, working and reaping included.",
    order=20,
    divided={"whole_each_ns": "workers"},
    measured_in={"whole_ns": "for the whole program"},
    shape=CROWD,
    worker_columns={
        "worker_begins_ns": WorkerColumn("begins"),
        "worker_ends_ns": WorkerColumn("ends"),
        "worker_works_ns": WorkerColumn("works", drop=2),
        "worker_cpu_ns": WorkerColumn("CPU"),
        "run_queue_wait_ns": WorkerColumn("waits"),
        "voluntary_switches": WorkerColumn("sleeps"),
        "involuntary_switches": WorkerColumn("pushed"),
        "minor_faults": WorkerColumn("faults"),
        "major_faults": WorkerColumn("disk", drop=1),
        "migrations": WorkerColumn("moves", drop=3),
        "divisions": WorkerColumn(""),
        "whole_each_ns": WorkerColumn(""),
    },
    worker_note=(
        "begins, ends: from the start of the whole; works: from one to the other; CPU: time spent computing; waits: "
        "ready, but without a CPU; sleeps, pushed: voluntary and involuntary switches; faults, disk: page faults "
        "without and "
        "with the disk; moves: from CPU to CPU, at least."
    ),
    # Trial division without a cut-off divides about N^2 / 10 times; workers beyond the CPUs wait for each other.
    curves={"numbers": CurveShape(2), "workers": CurveShape(1, beyond_cpus=True)},
    axes={
        "numbers": Axis(thing="number", things="numbers", title="numbers for each worker", cost=_numbers_cost),
        "cutoff": Axis({"none": "no cut-off", "sqrt": "cut off at the root"}),
        "output": Axis(
            {
                "worker_file": "a file each",
                "shared_stream": "one stream",
                "shared_append": "one appended file",
                "none": "no output",
            }
        ),
        "stdio_lock": Axis({"locked": "locked stdio", "unlocked": "unlocked stdio"}),
        "writing": Axis({"buffered": "buffered", "each_number": "a write for each number"}),
        "allocate": Axis({"none": "no allocation", "each_number": "allocating", "leaked": "leaking"}),
        "result_files": Axis({"new": "new files", "overwritten": "files overwritten"}),
        "allocator": Axis(
            {"library": "library's allocator", "one_heap": "one heap", "mapped": "memory mapped each time"}
        ),
        "worker_memory": Axis({"library": "library's memory", "prefaulted": "prefaulted memory"}),
        "file_table": Axis({"inherited": "inherited file table", "own": "own file table"}),
        "counters": Axis({"padded": "padded counters", "adjacent": "adjacent counters"}),
        "release": Axis({"as_launched": "working as launched", "together": "released together"}),
        "cpus": Axis({"free": "free CPUs", "one": "one CPU", "spread": "spread over CPUs"}),
    },
)
