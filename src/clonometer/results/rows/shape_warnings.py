"""Warnings about how samples lie: several modes, drift, warm-up, outliers that recorded facts explain."""

from __future__ import annotations

from clonometer.results.types import Estimate, RunWarning
from clonometer.units import format_duration

WARM_UP_OF_PROCESS = 0.10
OUTLIER_SHARE = 0.01
EXPLAINED_SHARE = 0.5
_CAUSES = {
    "migration": ("the task was moved to another CPU", "pin it: --set placement=pinned"),
    "involuntary_switch": ("other work took the CPU away", "stop what else is running, or repeat"),
    "frequency_change": (
        "the CPU's frequency was another",
        "set the performance governor or let the machine cool down",
    ),
}


def shape_warnings(estimate: Estimate, name: str) -> list[RunWarning | None]:
    """Judge how the samples of a row lie.

    Parameters
    ----------
    estimate
        The row.
    name
        What to call it.

    Returns
    -------
    list of RunWarning or None
        None for each that does not fire.
    """
    what = f"{name}, {estimate.quantity}"
    return [_modes(estimate, what), _drift(estimate, what), _warm_up(estimate, what), _outliers(estimate, what)]


def _modes(estimate: Estimate, what: str) -> RunWarning | None:
    if len(estimate.modes) < 2:
        return None
    words = " and ".join(f"{format_duration(mode['value_ns'])} ({mode['share']:.0%})" for mode in estimate.modes)
    return RunWarning(
        "modes.several",
        f"{what}: samples have several modes, near {words}; the median describes the largest",
        "look at the distribution in clonometer report; find the condition that separates them",
    )


def _drift(estimate: Estimate, what: str) -> RunWarning | None:
    if estimate.drift is None:
        return None
    share = estimate.drift["share"]
    if estimate.drift["kind"] == "trend":
        verb = "rose" if share > 0 else "fell"
        text = f"{what}: processes {verb} by {abs(share):.0%} from the first to the last; the interval is of the middle"
    else:
        text = (
            f"{what}: processes near in time are alike and wander over {share:.0%}; the interval was widened, and may "
            "still be too narrow"
        )
    return RunWarning(
        "level.drift", text, "compare only what ran interleaved in this run; repeat when the machine is at rest"
    )


def _warm_up(estimate: Estimate, what: str) -> RunWarning | None:
    if estimate.warm_up is None:
        return None
    samples, share = estimate.warm_up["samples"], estimate.warm_up["share"]
    if samples * estimate.n_processes < WARM_UP_OF_PROCESS * estimate.n_samples:
        return None
    change = "longer" if share > 0 else "shorter"
    return RunWarning(
        "warm_up.long",
        f"{what}: the first {samples} samples of each process take {abs(share):.0%} {change} than the rest",
        "raise 'warmup' in the limits of a plan file, or read the first launches as a condition of their own",
    )


def _outliers(estimate: Estimate, what: str) -> RunWarning | None:
    outliers = estimate.outliers
    if outliers is None or not outliers["causes"] or outliers["count"] < OUTLIER_SHARE * estimate.n_samples:
        return None
    if outliers["unexplained"] > (1 - EXPLAINED_SHARE) * outliers["count"]:
        return None
    cause, count = max(outliers["causes"].items(), key=lambda item: int(item[1]))
    words, next_step = _CAUSES[cause]
    return RunWarning(
        "outliers.explained",
        f"{what}: {outliers['count']} of {estimate.n_samples} samples are far out, {count} of them where {words}",
        next_step,
    )
