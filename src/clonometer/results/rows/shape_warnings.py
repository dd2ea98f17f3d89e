"""Warnings about how samples lie: drift, warm-up, no steady level, outliers that recorded facts explain."""

from __future__ import annotations

from clonometer.results.types import Estimate, RunWarning
from clonometer.words import stage_name

WARM_UP_OF_PROCESS = 0.10
OUTLIER_SHARE = 0.01
EXPLAINED_SHARE = 0.5
_CAUSES = {
    "migration": ("the task moved to another CPU", "pin it with --set placement=pinned"),
    "involuntary_switch": ("other programs took the CPU away", "stop other programs, or repeat"),
    "frequency_change": (
        "the CPU ran at another frequency",
        "set the performance governor, or let the machine cool down",
    ),
}


def shape_warnings(estimate: Estimate, name: str) -> list[RunWarning | None]:
    """Judge how the samples of a row lie.

    None for each that does not fire.
    """
    what = f"{name}, {stage_name(estimate.stage, estimate.quantity)}"
    return [
        _drift(estimate, what),
        _warm_up(estimate, what),
        _never_steady(estimate, what),
        _outliers(estimate, what),
    ]


def _drift(estimate: Estimate, what: str) -> RunWarning | None:
    if estimate.drift is None:
        return None
    return RunWarning(
        "level.drift",
        f"{what}: the level drifted by {estimate.drift.share:.0%} during the run, so the median has no 95% interval",
        "compare figures only within this run; repeat when the machine is quiet, or with a larger --budget",
    )


def _warm_up(estimate: Estimate, what: str) -> RunWarning | None:
    if estimate.warm_up is None:
        return None
    samples, share = estimate.warm_up.samples, estimate.warm_up.share
    if samples * estimate.n_processes < WARM_UP_OF_PROCESS * estimate.n_samples:
        return None
    change = "longer" if share > 0 else "shorter"
    return RunWarning(
        "warm_up.long",
        f"{what}: the first {samples} samples of each process take {abs(share):.0%} {change} than later ones",
        "raise 'warmup' in the limits of a plan file, or measure the first launches as a separate condition",
    )


def _never_steady(estimate: Estimate, what: str) -> RunWarning | None:
    steady = estimate.steady
    if steady is None or not steady.is_in_doubt:
        return None
    return RunWarning(
        "steady.never",
        f"{what}: {steady.never} of {steady.processes} processes still changed their level in their second half",
        "raise 'warmup' and 'samples' in the limits of a plan file; the runtime may never settle",
    )


def _outliers(estimate: Estimate, what: str) -> RunWarning | None:
    outliers = estimate.outliers
    if outliers is None or not outliers.causes or outliers.count < OUTLIER_SHARE * estimate.n_samples:
        return None
    if outliers.unexplained > (1 - EXPLAINED_SHARE) * outliers.count:
        return None
    cause, count = max(outliers.causes.items(), key=lambda item: item[1])
    words, next_step = _CAUSES[cause]
    return RunWarning(
        "outliers.explained",
        f"{what}: {outliers.count} of {estimate.n_samples} samples are outliers; in {count} of them {words}",
        next_step,
    )
