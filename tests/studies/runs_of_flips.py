"""Made results of a contradiction with one known culprit, or none: for tests of flips, and for the golden file.

Each is a function that needs nothing and gives the same answer each time. Its docstring says the truth.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from tests.studies.made import measured

from clonometer.studies.cells import cell
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import Judge
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.types import Pairing, Reconciliation

LAUNCH = PAIRINGS[0]
WORK = next(pairing for pairing in PAIRINGS if pairing.id == "work")
STAGES = LAUNCH.quantities
Medians = dict[tuple[str, str], float]

#: Every answer of this module by its function's name, in the order of the golden file.
FLIPS: dict[str, Callable[[], Reconciliation]] = {}


def listed(make: Callable[[], Reconciliation]) -> Callable[[], Reconciliation]:
    """Add an answer to the golden file."""
    FLIPS[make.__name__] = make
    return make


def _conditions(pairing: Pairing) -> Iterator[dict[str, str]]:
    factors = pairing.designs[0].factors
    for levels in itertools.product((0, 1), repeat=len(factors)):
        axes = {axis: factors[axis][level] for axis, level in zip(factors, levels, strict=True)}
        yield {axis: value for axis, value in axes.items() if value}


def design(thread: Callable[[dict[str, str]], float]) -> Medians:
    """Give the full factorial: ``thread`` gives a thread's time for the condition, a fork takes 100."""
    values = {}
    for axes in _conditions(LAUNCH):
        for stage in STAGES:
            values[cell("launch.fork", **axes), stage] = 100.0
            values[cell("launch.pthread", **axes), stage] = thread(axes)
    return values


def reconciled(pairing: Pairing, values: Medians, **how: Any) -> Reconciliation:
    """Give the answer of these medians."""
    answer = reconcile(pairing, Judge(measured(values, **how)))
    assert answer is not None
    return answer


@listed
def cold_reverses_it() -> Reconciliation:
    """A thread takes 0.2 times as long as a process, cold 3 times."""
    return reconciled(LAUNCH, design(lambda axes: 300.0 if axes["temperature"] == "cold" else 20.0))


@listed
def locked_memory_or_a_cold_stack_reverses_it() -> Reconciliation:
    """A thread takes 0.2 times as long, with all memory locked 20 times, with a new stack 1.5 times."""
    values = design(lambda axes: 20.0)
    for stage in STAGES:
        values[cell("launch.fork", mlockall="yes", temperature="warm"), stage] = 100.0
        values[cell("launch.pthread", mlockall="yes", temperature="warm"), stage] = 2000.0
        values[cell("launch.pthread", stack_cache="cold", temperature="warm"), stage] = 150.0
    return reconciled(LAUNCH, values)


@listed
def nothing_reverses_it() -> Reconciliation:
    """A thread takes 0.2 times as long, with memory in the parent 0.6 times."""
    return reconciled(LAUNCH, design(lambda axes: 60.0 if "parent_bytes" in axes else 20.0))


@listed
def the_stage_reverses_it() -> Reconciliation:
    """A thread's call takes 1.5 times as long, its start 0.6 times, its life 0.2 times."""
    values = {}
    for stage, thread in zip(STAGES, (150.0, 60.0, 20.0), strict=True):
        values[cell("launch.fork", temperature="warm"), stage] = 100.0
        values[cell("launch.pthread", temperature="warm"), stage] = thread
    return reconciled(LAUNCH, values)


@listed
def one_stream_reverses_it() -> Reconciliation:
    """Workers that are threads take half as long, 3 times as long where all write to one stream."""
    values = {}
    for axes in _conditions(WORK):
        values[cell("work.factor", **axes), "whole_ns"] = 300.0 if "output" in axes else 50.0
        values[cell("work.factor", **axes, task_kind="process"), "whole_ns"] = 100.0
    return reconciled(WORK, values)
