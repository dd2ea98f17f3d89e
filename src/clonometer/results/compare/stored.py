"""Stored runs that differ in nothing recorded from one of those compared: they tell how far such runs are apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clonometer.results.compare.between import stored_variance
from clonometer.results.compare.differences import differences, provenance_of
from clonometer.results.compare.types import BOOT
from clonometer.results.compare.variance import LEAST_RUNS, UNKNOWN_VARIANCE, BetweenRunVariance, StoredRuns
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.run_document import RunDocument

#: What may differ between runs of one machine between which nothing was changed.
_OF_ANY_RUN = (BOOT, "effective_mhz", "status")
_HOST = "host.name_hash"


def group_of(document: RunDocument, sides: Sequence[RunEstimates]) -> int | str:
    """Which of the compared runs a stored one is like, or why it is like none."""
    if document.status != "complete":
        return "not complete"
    key = (document.started, document.seed)
    if key in [(side.document.started, side.document.seed) for side in sides]:
        return "a copy"
    cells = {entry.cell for entry in document.cells}
    if not any(side.cells.keys() <= cells for side in sides):
        return "without all of the cells"
    differing = []
    for index, side in enumerate(sides):
        listed = differences(provenance_of(side.document), provenance_of(document))
        keys = [each.key for each in listed if each.key not in _OF_ANY_RUN]
        if not keys:
            return index
        differing.append(keys)
    if all(_HOST in keys for keys in differing):
        return "from another host"
    return f"with another {min(differing, key=len)[0]}"


def variance_beside(
    sides: Sequence[RunEstimates], stored: Sequence[tuple[int, RunEstimates]], left_out: Sequence[str]
) -> BetweenRunVariance:
    """How far runs are apart by stored runs, each with the place of the compared one that it is like.

    Unknown with fewer than three, and where the compared runs are of several boots and the stored ones are of one.
    """
    groups = [[run for place, run in stored if place == group] for group in range(len(sides))]
    runs = [run for group in groups if len(group) > 1 for run in group]
    reasons = Counter(left_out)
    boots = [{_boot(run) for run in group} for group in groups]
    between_boots = len({_boot(side) for side in sides} - {None}) > 1
    why = None
    if len(runs) < LEAST_RUNS:
        why = "comparable, but too few"
    elif between_boots and max(map(len, boots)) < 2:
        why = "from one boot, while the compared ones are from several"
    variance = None if why else stored_variance([group for group in groups if len(group) > 1])
    if variance is None:
        reasons.update([why or "with no row in common"] * len(stored))
        return replace(UNKNOWN_VARIANCE, stored=StoredRuns((), 0, 0.0, dict(reasons)))
    reasons.update(["alone with their settings"] * (len(stored) - len(runs)))
    files = tuple(run.name for run in runs)
    return replace(variance, stored=StoredRuns(files, len(set().union(*boots)), variance.span_s, dict(reasons)))


def _boot(run: RunEstimates) -> Any:
    return run.document.host.get(BOOT)
