"""The words of the first screen: mechanisms, moments and conditions for somebody who meets them for the first time."""

from __future__ import annotations

from clonometer.families import axis as axis_of
from clonometer.families import is_launch, workload_words
from clonometer.results.findings.wording import listed, measured
from clonometer.results.rows.run_estimates import Changes, RunEstimate
from clonometer.words import STAGE_ORDER, axis_words, mechanism_name, until

#: The end of a launch, which contains all other stages.
_END = STAGE_ORDER[-1]


def named(row: RunEstimate) -> str:
    """Name a mechanism with what it makes, as ``a new process (fork)``."""
    name = mechanism_name(row.workload)
    thing = workload_words(row.workload).thing
    return f"a new {thing} ({name})" if thing and is_launch_row(row) else name


def called(row: RunEstimate) -> str:
    """Call a mechanism by what it makes, as ``a process (fork)``."""
    name = mechanism_name(row.workload)
    thing = workload_words(row.workload).thing
    return f"a {thing} ({name})" if thing and is_launch_row(row) else name


def is_launch_row(row: RunEstimate) -> bool:
    """Whether it is of a launch."""
    return is_launch(row.family)


def how_long(row: RunEstimate) -> str:
    """Say what was timed or counted: a launch from its call to its end, anything else by its name."""
    if row.stage == _END:
        return "from call to end"
    if row.stage is not None:
        return until(row.stage)
    return measured(None, row.quantity)


def short_of_end(row: RunEstimate) -> str:
    """Say until when a launch was timed, after what it takes; empty for its end, which nobody needs to be told."""
    stage = row.stage
    return "" if stage in (_END, None) else f" {until(stage)}"


def verb(row: RunEstimate) -> str:
    """What a mechanism does with a time or with bytes."""
    return "takes" if row.is_time else "needs"


def with_value(name: str, value: int | str) -> str:
    """Say a condition after "with": ``1 GiB in the parent``, ``10,000 VMAs``, ``a lazily bound parent``."""
    axis = axis_of(name)
    words = axis_words(name, value) if value else f"no {axis.things or 'memory'}"
    return axis.where.format(words) if axis.where else words


def condition_words(changes: Changes) -> str:
    """Say all that is off its default, as it begins a sentence; empty where nothing is."""
    words = [with_value(name, value) for name, value in changes.items()]
    return f"with {listed(words)}" if words else ""
