"""The history of a folder of runs: when the level of each series changed, by how much, and what changed with it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.dataset.boots import beyond_boots, boot_change, second_boot
from clonometer.dataset.history_types import (
    BOOTS,
    CHANCE,
    FEW_RUNS,
    History,
    HistoryEvent,
    HistoryRow,
    HistoryStep,
)
from clonometer.dataset.load import Dataset, check_by
from clonometer.dataset.types import RunEntry
from clonometer.results.change import Change
from clonometer.results.compare.differences import by_importance, differences
from clonometer.results.compare.types import BOOT, Difference
from clonometer.results.rows.groups import segment_starts
from clonometer.stats.changes import change_of_runs
from clonometer.stats.rank_sum import two_sided_p
from clonometer.stats.steps import (
    LEAST_LIKELY,
    LEAST_VALUES,
    Step,
    chance_of,
    detectable_size,
    evidence_for,
    find_steps,
    suspected_step,
)
from clonometer.stats.verdict import Contrast, Levels
from clonometer.verdicts import Direction, Gate, Word

#: The least step that is said, and the largest slow-down that is allowed, unless the caller says otherwise.
MINIMUM_EFFECT, MAX_REGRESSION = 0.01, 0.05
#: Steps of so many last runs count as regressions.
RECENT = 30
#: A fact goes with a step where all of so many runs before differ in it from all of so many after.
_BESIDE = 3
#: Of a longer series not every run is looked at.
_LOOKS = 400
_NORMAL = 1.96


@dataclass(frozen=True)
class HistoryLimits:
    """What counts: shares, and which steps are recent."""

    max_regression: float = MAX_REGRESSION
    minimum_effect: float = MINIMUM_EFFECT
    recent: int = RECENT
    since: datetime | None = None


@dataclass(frozen=True)
class JudgedStep:
    """A step, why it is only suspected (None if it is sure), and the run with which it could be sure."""

    step: Step
    unsure: str | None
    sure_at: int


@dataclass(frozen=True)
class _Series:
    """One row of one host or group before anything is sought in it: which runs, and the logarithms."""

    group: int
    label: int
    runs: NDArray[Any]
    logs: NDArray[Any]


def find_history(dataset: Dataset, by: str = "host", limits: HistoryLimits | None = None) -> History:
    """Find when levels changed.

    ``by`` says what makes a series: ``host``, or any fact. The runs of that fact's hosts then follow each other in one
    series, and differ by what hosts differ by.

    Raises
    ------
    UsageError
        If no run has that fact.
    """
    limits = limits or HistoryLimits()
    check_by(dataset.runs, by)
    names, group_of_run = dataset.numbered_groups(by)
    listed = list(_series(dataset, group_of_run))
    long = [series for series in listed if series.logs.size >= LEAST_VALUES]
    steps, levels = ruled_steps([series.logs for series in long])
    rows = [
        _row(dataset, names[series.group], series, its, limits=limits, levels=levels)
        for series, its in zip(long, steps, strict=True)
    ]
    blind = sum(row.detectable is None or row.detectable > limits.max_regression for row in rows)
    regressions = any(step.is_regression for row in rows for step in row.steps)
    suspected = any(step.is_suspected for row in rows for step in row.steps)
    # Who sees in fewer than half of the rows has not looked.
    sees = rows and 2 * blind <= len(rows)
    verdict = Gate.FAIL if regressions else Gate.PASS if sees and not suspected else Gate.UNKNOWN
    return History(
        dataset.reading,
        by,
        verdict,
        limits.max_regression,
        limits.minimum_effect,
        None if limits.since is None else limits.since.isoformat(),
        limits.recent,
        evidence_for(levels.sure, max((series.logs.size for series in long), default=LEAST_VALUES)),
        len(listed) - len(long),
        blind,
        sorted(_events(rows), key=lambda event: event.since, reverse=True),
        rows,
    )


def _series(dataset: Dataset, group_of_run: Sequence[int]) -> Iterator[_Series]:
    """Give each label of each group its runs in order of time; without what has no logarithm."""
    rows = dataset.rows
    groups = np.array(group_of_run, np.int64)[rows["run"]]
    order = np.lexsort((rows["run"], rows["label"], groups))
    group, label, run, value = groups[order], *(rows[name][order] for name in ("label", "run", "value"))
    for start, stop in pairwise([*segment_starts(group, label).tolist(), order.size]):
        if (value[start:stop] > 0).all():
            yield _Series(int(group[start]), int(label[start]), run[start:stop], np.log(value[start:stop]))


def ruled_steps(
    listed: Sequence[NDArray[Any]], located: Sequence[Sequence[Step]] | None = None
) -> tuple[list[list[JudgedStep]], Levels]:
    """Find the steps of all series that are sure or likely, by the one rule, all corrected together.

    Detection only says where a step may be, and how often noise would look like one there. The rule decides: the ranks
    of the runs before and after must differ, and so must their levels by the error of both. ``listed`` has the
    logarithms of each series, shape (n,), in order of time, ``located`` what `located_steps` has found in them.
    """
    located = located_steps(listed) if located is None else located
    contrasts = [
        _contrast(logs, begin, step, end)
        for logs, steps in zip(listed, located, strict=True)
        for begin, step, end in zip(
            [0, *(step.place for step in steps)], steps, [*(step.place for step in steps[1:]), logs.size], strict=False
        )
    ]
    p_values = iter([contrast.p for contrast in contrasts])
    levels = Levels.of([contrast.p for contrast in contrasts], family=len(listed))
    ruled = []
    for steps in located:
        words = [levels.word(next(p_values)) for _ in steps]
        ruled.append(
            [
                JudgedStep(step, None if word == Word.SURE else CHANCE, step.place)
                for step, word in zip(steps, words, strict=True)
                if word != Word.OPEN
            ]
        )
    return ruled, levels


def _contrast(logs: NDArray[Any], begin: int, step: Step, end: int) -> Contrast:
    """The runs from a step on against those before it, up to its neighbours; that its place was chosen counts."""
    before, after = logs[begin : step.place].tolist(), logs[step.place : end].tolist()
    if min(len(before), len(after)) < 2:
        return Contrast(change_of_runs([0.0, 0.0], [0.0, 0.0]), ranks_p=1.0)
    chance = chance_of(step.evidence, logs.size)
    return Contrast(change_of_runs(before, after), ranks_p=max(chance, two_sided_p(before, after)))


def located_steps(listed: Sequence[NDArray[Any]]) -> list[list[Step]]:
    """Find where steps of all series may be; those of one length together."""
    lengths: dict[int, list[int]] = {}
    for place, logs in enumerate(listed):
        lengths.setdefault(logs.size, []).append(place)
    steps: dict[int, list[Step]] = {}
    for size, places in lengths.items():
        values = np.stack([listed[place] for place in places], axis=1)
        limit = evidence_for(LEAST_LIKELY, size)
        steps |= dict(zip(places, find_steps(values, limit, stride=1 + size // _LOOKS), strict=True))
    return [steps[place] for place in range(len(listed))]


def _row(
    dataset: Dataset,
    name: str,
    series: _Series,
    steps: Sequence[JudgedStep],
    *,
    limits: HistoryLimits,
    levels: Levels,
) -> HistoryRow:
    runs = [dataset.runs[place] for place in series.runs.tolist()]
    label = dataset.labels[series.label]
    listed = judged_steps(series.logs, [run.facts.get(BOOT) for run in runs], steps, levels)
    large = [judged for judged in listed if abs(math.expm1(judged.step.size)) >= limits.minimum_effect]
    written = []
    for number, judged in enumerate(large):
        later = sum(other.step.size for other in large[number + 1 :] if other.unsure is None)
        least = min(judged.step.size, judged.step.size + later)
        is_new = _is_new(judged, runs, limits)
        regresses = label.is_time and is_new and math.expm1(least) >= limits.max_regression
        written.append(_written(judged, runs, regresses=regresses))
    level = series.logs.copy()
    for judged in steps:
        level[judged.step.place :] -= judged.step.size
    size = detectable_size(level, evidence_for(levels.sure, series.logs.size))
    return HistoryRow(
        name,
        label,
        [run.started for run in runs],
        np.exp(series.logs).tolist(),
        written,
        None if size is None else math.expm1(min(size, 10.0)),
    )


def judged_steps(
    logs: NDArray[Any], boots: Sequence[str | None], steps: Sequence[JudgedStep], levels: Levels
) -> list[JudgedStep]:
    """Say of each sure step of a series whether boots may explain it, and add the one that the last runs suggest.

    Parameters
    ----------
    logs
        Logarithms, shape (n,), in order of time.
    boots
        The boot of each run.
    steps, levels
        What `ruled_steps` found.
    """
    judged, begin = [], 0
    for ruled in steps:
        step = ruled.step
        at = None if ruled.unsure else boot_change(boots, step.place, step.first, step.last)
        if at is None:
            judged.append(ruled)
        else:
            sure = beyond_boots(logs[begin:], boots[begin:], at - begin)
            judged.append(JudgedStep(step, None if sure else BOOTS, second_boot(boots, at) or len(boots)))
        # Levels before a sure step say nothing of what boots differ by.
        begin = step.place if judged[-1].unsure is None else begin
    last = suspected_step(logs, [ruled.step for ruled in steps], evidence_for(levels.likely, logs.size))
    return judged if last is None else [*judged, JudgedStep(last, FEW_RUNS, len(boots))]


def _is_new(judged: JudgedStep, runs: Sequence[RunEntry], limits: HistoryLimits) -> bool:
    if limits.since is not None:
        return datetime.fromisoformat(runs[judged.step.place].started) >= limits.since
    return judged.unsure is not None or judged.sure_at >= len(runs) - limits.recent


def _written(judged: JudgedStep, runs: Sequence[RunEntry], *, regresses: bool) -> HistoryStep:
    step = judged.step
    first, last = min(step.first, len(runs) - 1), min(step.last, len(runs) - 1)
    return HistoryStep(
        since=runs[step.place].started,
        run=runs[step.place].path,
        not_before=runs[first].started,
        not_after=runs[last].started,
        change=Change(
            base=runs[step.place - 1].path,
            other=runs[step.place].path,
            value=math.exp(step.size),
            low=math.exp(step.size - _NORMAL * step.error),
            high=math.exp(step.size + _NORMAL * step.error),
            direction=Direction.of(step.size),
            method="normal interval of the levels' logarithms",
            correction="false discovery rate over all rows; that the place was chosen is in the p-value",
            n=step.seen,
        ),
        seen_after=step.seen - step.place,
        evidence=step.evidence,
        is_regression=regresses and judged.unsure is None,
        causes=causes_of(runs, step.place, first, last),
        place=step.place,
        unsure=judged.unsure,
        is_suspected=regresses and judged.unsure is not None,
    )


def causes_of(runs: Sequence[RunEntry], place: int, first: int, last: int) -> tuple[Difference, ...]:
    """Name the facts that changed where a step may be: at ``place``, or else anywhere from ``first`` to ``last``.

    A fact has changed where all of the three runs before have it otherwise than all of the three from there on. The
    runs are those of the series, in order of time; that at ``place`` is the first of the new level.
    """
    just = _changed_at(runs, place)
    if just:
        return by_importance(just)
    nearby = [difference for at in range(first, last + 1) if at != place for difference in _changed_at(runs, at)]
    return by_importance(_without_repeats(nearby))


def _changed_at(runs: Sequence[RunEntry], place: int) -> list[Difference]:
    if not 0 < place < len(runs):
        return []
    before, after = runs[max(0, place - _BESIDE) : place], runs[place : place + _BESIDE]
    if all(earlier.provenance is later.provenance for earlier in before for later in after):
        return []
    # What differs between the two neighbours, and between all that are near.
    return [
        difference
        for difference in differences(before[-1].provenance, after[0].provenance)
        if difference.key not in ("host.name_hash", "status")
        and not {_fact(run, difference.key) for run in before} & {_fact(run, difference.key) for run in after}
    ]


def _fact(run: RunEntry, key: str) -> str:
    if key in ("clock", "clonometer_version"):
        return str(getattr(run.provenance, key))
    if key.startswith("mitigations.") and key not in run.facts:
        return str((run.facts.get("mitigations") or {}).get(key.removeprefix("mitigations.")))
    return str(run.facts.get(key))


def _events(rows: Sequence[HistoryRow]) -> Iterator[HistoryEvent]:
    """Put steps of one series together whose places may be the same: around the most evident one."""
    by_series: dict[str, list[tuple[HistoryRow, HistoryStep]]] = {}
    for row in rows:
        by_series.setdefault(row.series, []).extend((row, step) for step in row.steps)
    n_rows = {name: sum(row.series == name for row in rows) for name in by_series}
    for name, steps in by_series.items():
        left = sorted(steps, key=lambda pair: -pair[1].evidence)
        while left:
            row, main = left[0]
            together = [
                pair
                for pair in left
                if pair[1].not_before <= main.since <= pair[1].not_after or pair[1].since == main.since
            ]
            left = [pair for pair in left if pair not in together]
            ratios = [step.change.value or 1.0 for _, step in together]
            causes = _without_repeats(cause for _, step in together for cause in step.causes)
            yield HistoryEvent(
                name,
                main.since,
                main.run,
                sum(ratio > 1 for ratio in ratios),
                sum(ratio < 1 for ratio in ratios),
                n_rows[name],
                median(ratios),
                min(ratios),
                max(ratios),
                sum(step.is_regression for _, step in together),
                main.causes or by_importance(causes),
                main.unsure,
            )


def _without_repeats(causes: Iterable[Difference]) -> list[Difference]:
    # A fact may be a list or a table.
    return list({(cause.key, str(cause.base), str(cause.other)): cause for cause in causes}.values())
