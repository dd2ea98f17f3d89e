"""Ablations: what is left of the gap between threads and processes as one shared thing after the other goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonometer.results.rows.evidence import Book, Evidence, once_per_book
from clonometer.results.series.types import AblationRung
from clonometer.stats.ladder import Ladder, ladder_of_differences

#: The axis whose two values are compared, first less second.
KIND = "task_kind"
SIDES = ("thread", "process")
# Fewer things taken away are a comparison, not an ablation.
_LEAST_AXES = 3
_NUMERIC = ("bytes", "count")

Changes = Mapping[str, int | str]


@dataclass(frozen=True)
class Rung:
    """Both sides under one condition; ``taken`` are the axis and its new value, None on the first rung."""

    condition: Changes
    taken: tuple[str, int | str] | None
    sides: tuple[Evidence, Evidence]


@dataclass(frozen=True)
class AblationEvidence:
    """Rungs of which each differs from the one before in one axis, with the gaps along them."""

    workload: str
    quantity: str
    rungs: tuple[Rung, ...]
    ladder: Ladder


@once_per_book
def ablations_of(book: Book, seed: int) -> tuple[AblationEvidence, ...]:
    """Find the ablations of a run.

    An ablation is the longest row of conditions, one after the other in the plan, that both sides have, of which each
    differs from the one before in one axis that is no number, three axes at least in all.
    """
    ablations = []
    for workload, quantity, rungs in _chains(book):
        sides = [(rung.sides[0].processes, rung.sides[1].processes) for rung in rungs]
        ablations.append(AblationEvidence(workload, quantity, rungs, ladder_of_differences(sides, seed=seed)))
    return tuple(ablations)


@once_per_book
def rung_cells(book: Book) -> frozenset[str]:
    """The cells of the run's ablations: what one of them takes alone is no finding, for they are told together."""
    return frozenset(side.estimate.cell for _, _, rungs in _chains(book) for rung in rungs for side in rung.sides)


def _chains(book: Book) -> Iterator[tuple[str, str, tuple[Rung, ...]]]:
    with_kind = [row for row in book.rows if KIND in row.estimate.condition and not row.estimate.detail]
    for workload, quantity in dict.fromkeys((row.estimate.workload, row.estimate.quantity) for row in with_kind):
        of_quantity = [
            row for row in with_kind if (row.estimate.workload, row.estimate.quantity) == (workload, quantity)
        ]
        rungs = _longest_chain(book, _pairs(of_quantity))
        # Of nothing, which only a broken file holds, there are no shares.
        sound = all(float(side.processes.values.min()) > 0 for rung in rungs for side in rung.sides)
        if sound and len({rung.taken[0] for rung in rungs if rung.taken}) >= _LEAST_AXES:
            yield workload, quantity, rungs


def _pairs(rows: list[Evidence]) -> list[tuple[Changes, tuple[Evidence, Evidence]]]:
    """Conditions that both sides have, in the order of the plan."""
    by_condition: dict[tuple[tuple[str, int | str], ...], dict[str, Evidence]] = {}
    for row in rows:
        others = tuple((axis, value) for axis, value in row.estimate.condition.items() if axis != KIND)
        by_condition.setdefault(others, {})[str(row.estimate.condition[KIND])] = row
    return [
        (dict(others), (sides[SIDES[0]], sides[SIDES[1]]))
        for others, sides in by_condition.items()
        if set(SIDES) <= set(sides)
    ]


def _longest_chain(book: Book, pairs: list[tuple[Changes, tuple[Evidence, Evidence]]]) -> tuple[Rung, ...]:
    best: list[Rung] = []
    chain: list[Rung] = []
    for condition, sides in pairs:
        taken = _only_change(book, chain[-1].condition, condition) if chain else None
        chain = [*chain, Rung(condition, taken, sides)] if taken else [Rung(condition, None, sides)]
        if len(chain) > len(best):
            best = chain
    return tuple(best)


def _only_change(book: Book, before: Changes, after: Changes) -> tuple[str, int | str] | None:
    changed = [axis for axis in after if before.get(axis) != after[axis]]
    if len(changed) != 1 or book.kind(changed[0]) in _NUMERIC:
        return None
    return changed[0], after[changed[0]]


def written_rungs(
    ladder: Ladder, taken: Sequence[tuple[str, int | str] | None], medians_ns: Sequence[tuple[float, float]]
) -> tuple[AblationRung, ...]:
    """Write rungs along a ladder: what changed on each (None: nothing), and the medians of both sides."""
    rungs = []
    for place, (change, (first_ns, second_ns)) in enumerate(zip(taken, medians_ns, strict=True)):
        axis, value = change or (None, None)
        step, share = (ladder.steps[place - 1], ladder.shares[place - 1]) if place else (None, None)
        rungs.append(
            AblationRung(
                axis,
                value,
                first_ns,
                second_ns,
                gap_ns=ladder.gaps[place].ends,
                gap_relative=ladder.relative[place].ends,
                step_ns=None if step is None else step.ends,
                share=None if share is None else share.ends,
            )
        )
    return tuple(rungs)
