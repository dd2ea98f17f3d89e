"""The families of workloads, one module each, and what this package says of a family or an axis nobody has heard of.

A module with a ``FAMILY`` adds a family; one with ``AXES`` adds axes that several families have. Nothing else lists
them: whoever needs a family, an axis or a workload asks here, and gets defaults for what has no module.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clonometer.discovery import find_plugins
from clonometer.families.common import STAGES
from clonometer.families.types import LAUNCH, Axis, Family, Stage, WorkerColumn, WorkloadWords

#: The first stage of every launch, when the parent's call returns, and its end.
CALL, END = STAGES[0].name, STAGES[-1].name
_NO_WORDS = WorkloadWords()
_UNKNOWN_AXIS = Axis()


@cache
def families() -> tuple[Family, ...]:
    """All families that have a module, in the order in which they are read."""
    return tuple(sorted(find_plugins(__name__, "FAMILY"), key=lambda known: (known.order, known.name)))


@cache
def axes() -> Mapping[str, Axis]:
    """All axes that have words or a cost of their own."""
    groups = [*find_plugins(__name__, "AXES"), *(known.axes for known in families())]
    return {name: axis for group in groups for name, axis in group.items()}


@cache
def stages() -> Mapping[str, Stage]:
    """All stages that have words, in order of time: those of several families, and what families bring."""
    *ordered, end = STAGES
    for brought in (stage for known in families() for stage in known.stages):
        names = [stage.name for stage in ordered]
        if brought.name not in (*names, end.name):
            place = names.index(brought.after) + 1 if brought.after in names else len(names)
            ordered.insert(place, brought)
    return {stage.name: stage for stage in (*ordered, end)}


@cache
def family(name: str) -> Family:
    """Look a family up; one without a module has a title made from its name, and stands after the others.

    Examples
    --------
    >>> family("cow").title, family("page_faults").title
    ('After a fork', 'Page faults')
    """
    unknown = Family(name, title=name.replace("_", " ").capitalize())
    return next((known for known in families() if known.name == name), unknown)


def axis(name: str) -> Axis:
    """Look an axis up; one without words has none, and costs nothing."""
    return axes().get(name, _UNKNOWN_AXIS)


def workload_words(workload: str) -> WorkloadWords:
    """Words for a workload whose id is not enough."""
    return next((known.workloads[workload] for known in families() if workload in known.workloads), _NO_WORDS)


def census_ways() -> Mapping[str, str]:
    """The workload that says what each way of making tasks costs, by the way as a census names it.

    Examples
    --------
    >>> sorted(census_ways())
    ['posix_spawn', 'thread', 'vfork']
    """
    every = (entry for known in families() for entry in known.workloads.items())
    return {words.census: workload for workload, words in every if words.census}


def measured_in(quantity: str) -> str:
    """How a sentence says which quantity is compared; empty where its family has no words for it.

    Examples
    --------
    >>> measured_in("write_each_ns"), measured_in("cost_ns")
    ('for the first write to each page', '')
    """
    return next((known.measured_in[quantity] for known in families() if quantity in known.measured_in), "")


def worker_columns() -> Mapping[str, WorkerColumn]:
    """How quantities of workers are headed in a table of them, in the order of its columns.

    Examples
    --------
    >>> worker_columns()["major_faults"].head
    'disk'
    """
    return {name: column for known in families() for name, column in known.worker_columns.items()}


def known_delays() -> Mapping[str, tuple[str, str]]:
    """The axes that delay a launch by a known time, in the order in which it passes them: where, and its first stage.

    Examples
    --------
    >>> known_delays()["child_spin_ns"]
    ('exit', 'reaped')
    """
    return {name: known.delays for name, known in axes().items() if known.delays is not None}


def is_launch(name: str) -> bool:
    """Whether a family's workloads launch tasks, stage by stage."""
    return family(name).shape == LAUNCH


def is_beside(name: str, quantity: str) -> bool:
    """Whether a quantity of a family is only there to be subtracted from others."""
    return quantity in family(name).besides
