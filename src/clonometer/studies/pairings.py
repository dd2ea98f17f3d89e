"""The contradictions of the studies: what is compared, the factorials over the suspected conditions, and the pairs.

A pair are both workloads under a condition that was measured for both.
"""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.rows.ratio import change_of
from clonometer.results.types import FEWEST_PROCESSES
from clonometer.studies.cells import axes_of
from clonometer.studies.judge import Judge
from clonometer.studies.types import Design, Pair, Pairing

#: Axes that only one side of a pair has: the other side is then the one that does not name it.
_ONE_SIDED = ("stack_cache", "stack_kind", "stack_bytes", "thread_ending", "process_ending", "guard", "detached")

_TEMPERATURE = {"temperature": ("warm", "cold")}
_BOTH = (
    Design(
        "memory, linkage, placement",
        {
            **_TEMPERATURE,
            "parent_bytes": ("", "16MiB"),
            "linkage": ("", "dynamic_now"),
            "placement": ("", "free"),
        },
    ),
    Design(
        "kind of memory, with 16 MiB in the parent",
        {**_TEMPERATURE, "page_kind": ("", "thp"), "mlockall": ("", "yes")},
        {"parent_bytes": "16MiB"},
    ),
    Design(
        "what was launched before, cold",
        {"after": ("", "pthread"), "launch_number": ("", "10")},
        {"temperature": "cold"},
    ),
)
_LAUNCHES = (
    *_BOTH,
    Design("C library", {**_TEMPERATURE, "linkage": ("", "musl"), "placement": ("", "free")}),
    Design("launchers at once", {**_TEMPERATURE, "concurrency": ("", "4"), "placement": ("", "free")}),
    Design(
        "the thread's stack",
        {**_TEMPERATURE, "stack_cache": ("", "cold"), "mlockall": ("", "yes")},
        first_only=("stack_cache",),
    ),
    Design(
        "the pages of a separate stack",
        {**_TEMPERATURE, "stack_kind": ("user_4k", "user_huge"), "mlockall": ("", "yes")},
        {"stack_bytes": "8MiB"},
        ("stack_kind", "stack_bytes"),
    ),
)
_AT_WORK = (
    Design(
        "workers, numbers, output, allocation",
        {
            "workers": ("2", "8"),
            "numbers": ("200", "2000"),
            "output": ("", "shared_stream"),
            "allocate": ("", "each_number"),
        },
    ),
    Design(
        "memory that leaks, files that exist, with 4,000 numbers in one run each",
        {"workers": ("2", "8"), "allocate": ("", "leaked"), "result_files": ("", "overwritten")},
        {"numbers": "4000"},
    ),
    Design(
        "placement, with 2,000 numbers",
        {"workers": ("2", "8"), "output": ("", "shared_stream"), "cpus": ("", "one")},
        {"numbers": "2000"},
    ),
    Design(
        "allocator, with 2,000 numbers that allocate",
        {"workers": ("2", "8"), "output": ("", "shared_stream"), "allocator": ("", "one_heap")},
        {"numbers": "2000", "allocate": "each_number"},
    ),
)

LAUNCH, FLAGS, WORK = (
    Pairing(
        "launch",
        "Is a thread slower to launch than a process?",
        {"S11: threads are slower": 1, "B6: processes are, by 7 times": -1, "L6: processes are, by 13 times": -1},
        "launch.pthread",
        "launch.fork",
        "a thread",
        "a process",
        ("call_returns_ns", "task_runs_ns", "reaped_ns"),
        _LAUNCHES,
        {"temperature": "warm"},
        # Locked memory makes a thread write all of a new stack: here that reversed it.
        ("temperature=warm", "mlockall=no,yes", "stack_cache=warm,cold"),
    ),
    Pairing(
        "flags",
        "Do the flags that pthread_create passes to clone cost or save time?",
        {"S21: they cost": 1, "B12: they save": -1},
        "flags.settls",
        "flags.none",
        "clone3 with all of them",
        "clone3 with none",
        ("call_returns_ns", "task_runs_ns"),
        _BOTH,
        {"temperature": "warm"},
        ("temperature=warm", "parent_bytes=0,512MiB", "open_files=0,1000", "caches=hot,thrashed"),
    ),
    Pairing(
        "work",
        "Do workers that are threads take longer than workers that are processes?",
        {
            "U7: they do beyond the CPUs": 1,
            "U12: processes cost less to create": 1,
            "L6: threads are faster, by 13 times": -1,
        },
        "work.factor",
        "work.factor[task_kind=process]",
        "threads",
        "processes",
        ("whole_ns",),
        _AT_WORK,
        {"numbers": "200", "workers": "2"},
        (
            "task_kind=thread,process",
            "workers=16,64",
            "numbers=20,2000",
            "output=worker_file,shared_stream",
            "stdio_lock=locked,unlocked",
        ),
    ),
)
PAIRINGS: tuple[Pairing, ...] = (LAUNCH, FLAGS, WORK)


def pairs_of(pairing: Pairing, judge: Judge) -> Sequence[Pair]:
    """Every pair of a pairing, for each of its quantities; worked out once for each judge."""
    if pairing.id not in judge.pairs:
        judge.pairs[pairing.id] = _pairs(pairing, judge)
    return judge.pairs[pairing.id]


def _pairs(pairing: Pairing, judge: Judge) -> Sequence[Pair]:
    separating = {axis for side in (pairing.a, pairing.b) for axis in axes_of(side)[1]}
    sides = [_side(workload, separating, judge) for workload in (pairing.a, pairing.b)]
    pairs: dict[tuple[str, ...], Pair] = {}
    for first, second in ((0, 1), (1, 0)):
        for text, condition in sides[first].items():
            common = {name: value for name, value in condition.items() if name not in _ONE_SIDED}
            special = {name: value for name, value in condition.items() if name in _ONE_SIDED}
            other = next((candidate for candidate, theirs in sides[second].items() if theirs == common), None)
            if other is None or (not special and first == 1):
                continue
            cells = (text, other) if first == 0 else (other, text)
            for quantity in pairing.quantities:
                a, b = (judge.measured.find(text, quantity) for text in cells)
                # Of fewer than 6 processes there is no ratio.
                if a is not None and b is not None and min(a.n_processes, b.n_processes) >= FEWEST_PROCESSES:
                    change = change_of(cells[1], cells[0], judge.ratio(a, b))
                    pairs.setdefault((*cells, quantity), Pair(condition, quantity, change))
    return list(pairs.values())


def _side(name: str, separating: set[str], judge: Judge) -> dict[str, dict[str, str]]:
    """Cells of one side with their conditions; what tells the sides apart is no condition."""
    workload, fixed = axes_of(name)
    side = {}
    for text in judge.measured.cells:
        workload_of_cell, axes = axes_of(text)
        if workload_of_cell == workload and {axis: axes[axis] for axis in separating if axis in axes} == fixed:
            side[text] = {axis: value for axis, value in axes.items() if axis not in fixed}
    return side
