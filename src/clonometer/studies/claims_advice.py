"""What the studies recommend: when a launch is cheap enough, and which kind of task to prefer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.stats.quantiles import quantile_interval
from clonometer.studies.cells import heap
from clonometer.studies.judge import REAPED, Judge, claim
from clonometer.studies.thresholds import DIFFERS
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import JudgedPart, over_demands, verdict
from clonometer.studies.workers import by_numbers, by_workers
from clonometer.units import format_duration_interval
from clonometer.verdicts import Status

_RATIO = "threads over processes"


@claim("B14", "none: the work at which a launch is {} of it", DIFFERS)
def b14(judge: Judge) -> Verdict:
    """The work of a task beside which its launch, until it is reaped, is the least effect that counts."""
    cells = [heap(workload, "2MiB") for workload in ("launch.pthread", "launch.fork")]
    thread, process = (
        quantile_interval(judge.find(text, REAPED).processes.values).over(DIFFERS.share) for text in cells
    )
    extra = judge.difference(*(judge.find(text, REAPED) for text in reversed(cells))).over(DIFFERS.share)
    works = [format_duration_interval(*work.ends) for work in (thread, process, extra)]
    reason = (
        f"With a 2 MB heap, a launch is less than {DIFFERS.words} of a task's work where that is more than {works[0]} "
        f"(thread) or {works[1]} (process). Choosing between the two matters to tasks below {works[2]}. How many "
        f"tasks are that short depends on the program."
    )
    # The views write the number of a verdict without a unit.
    in_ms = process.over(1e6)
    effect_is = "work beside which launching a process is 5%"
    return Verdict(Status.DEPENDS, reason, in_ms.value, (in_ms.low, in_ms.high), effect_is, tuple(cells))


def _points(judge: Judge, expected: str) -> Sequence[JudgedPart]:
    """Threads over processes at every point of both experiments."""
    experiments = {"workers": by_workers(judge.measured), "numbers": by_numbers(judge.measured)}
    return [
        judge.compare(f"{x:,} {words}", *experiment.pair(x), expected)
        for words, experiment in experiments.items()
        for x in experiment.x
    ]


@claim("U14", "{} at every number of workers, and at every number that they factor", DIFFERS)
def u14(judge: Judge) -> Verdict:
    """All points of both experiments, those up to the number of cores among them."""
    parts = _points(judge, "above")
    return verdict(over_demands, parts, "Threads over processes, everywhere", _RATIO)


@claim("U15", "{} against them anywhere", DIFFERS)
def u15(judge: Judge) -> Verdict:
    """Whether processes nowhere take longer; what else speaks for or against them is S16 to S20."""
    parts = _points(judge, "not below")
    judged = verdict(over_demands, parts, "Preferring processes costs nothing where this is 0.95 or more", _RATIO)
    return replace(
        judged, reason=f"{judged.reason} This is about workers only: B6 and L6 judge launches, S16 shared data."
    )
