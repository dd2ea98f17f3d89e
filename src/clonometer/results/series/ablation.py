"""Ablations: what is left of the gap between threads and processes as one shared thing after the other goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clonometer.grouping import group_by
from clonometer.results.rows.run_estimates import Changes, RunEstimate, RunEstimates, cached_per_run
from clonometer.results.series.kinds import pairs_of_kinds
from clonometer.results.series_types import SIDES, TASK_KIND, AblationRung, AblationSeries
from clonometer.stats.ladder import Ladder, ladder_of_differences

# Fewer things taken away are a comparison, not an ablation.
_LEAST_AXES = 3
_NUMERIC = ("bytes", "count")


@dataclass(frozen=True)
class AblationStep:
    """Both sides under one condition; ``taken`` are the axis and its new value, None on the first rung."""

    condition: Changes
    taken: tuple[str, int | str] | None
    sides: tuple[RunEstimate, RunEstimate]


@dataclass(frozen=True)
class AblationEvidence:
    """Rungs of which each differs from the one before in one axis, with the gaps along them."""

    workload: str
    quantity: str
    rungs: tuple[AblationStep, ...]
    ladder: Ladder


@cached_per_run
def ablations_of(estimates: RunEstimates, seed: int) -> tuple[AblationEvidence, ...]:
    """Find the ablations of a run.

    An ablation is the longest row of conditions, one after the other in the plan, that both sides have, of which each
    differs from the one before in one axis that is no number, three axes at least in all.
    """
    ablations = []
    for workload, quantity, rungs in _chains(estimates):
        sides = [(rung.sides[0].processes, rung.sides[1].processes) for rung in rungs]
        ablations.append(AblationEvidence(workload, quantity, rungs, ladder_of_differences(sides, seed=seed)))
    return tuple(ablations)


@cached_per_run
def rung_cells(estimates: RunEstimates) -> frozenset[str]:
    """The cells of the run's ablations: what one of them takes alone is no finding, for they are told together."""
    return frozenset(side.cell for _, _, rungs in _chains(estimates) for rung in rungs for side in rung.sides)


def _chains(estimates: RunEstimates) -> Iterator[tuple[str, str, tuple[AblationStep, ...]]]:
    both = pairs_of_kinds(row for row in estimates.rows if not row.detail)
    by_quantity = group_by(((pair[0].workload, pair[0].quantity), pair) for pair in both)
    for (workload, quantity), pairs in by_quantity.items():
        rungs = _longest_chain(estimates, pairs)
        # Of nothing, which only a broken file holds, there are no shares.
        sound = all(float(side.processes.values.min()) > 0 for rung in rungs for side in rung.sides)
        if sound and len({rung.taken[0] for rung in rungs if rung.taken}) >= _LEAST_AXES:
            yield workload, quantity, rungs


def _longest_chain(estimates: RunEstimates, pairs: list[tuple[RunEstimate, RunEstimate]]) -> tuple[AblationStep, ...]:
    best: list[AblationStep] = []
    chain: list[AblationStep] = []
    for sides in pairs:
        condition = {axis: value for axis, value in sides[0].condition.items() if axis != TASK_KIND}
        taken = _only_change(estimates, chain[-1].condition, condition) if chain else None
        chain = [*chain, AblationStep(condition, taken, sides)] if taken else [AblationStep(condition, None, sides)]
        if len(chain) > len(best):
            best = chain
    return tuple(best)


def _only_change(estimates: RunEstimates, before: Changes, after: Changes) -> tuple[str, int | str] | None:
    changed = [axis for axis in after if before.get(axis) != after[axis]]
    if len(changed) != 1 or estimates.kind(changed[0]) in _NUMERIC:
        return None
    return changed[0], after[changed[0]]


def ablation_series(estimates: RunEstimates, seed: int) -> tuple[AblationSeries, ...]:
    """Every ablation of a run (`ablations_of`), ready to draw and to print."""
    return tuple(
        written_ablation(
            evidence.ladder,
            [rung.taken for rung in evidence.rungs],
            [(_median(rung.sides[0]), _median(rung.sides[1])) for rung in evidence.rungs],
            workload=evidence.workload,
            quantity=evidence.quantity,
            condition=estimates.changes(evidence.rungs[0].sides[0], TASK_KIND),
        )
        for evidence in ablations_of(estimates, seed)
    )


def _median(row: RunEstimate) -> float:
    return row.median_ns or 0.0


def written_ablation(
    ladder: Ladder,
    taken: Sequence[tuple[str, int | str] | None],
    medians_ns: Sequence[tuple[float, float]],
    *,
    workload: str,
    quantity: str,
    condition: Changes,
) -> AblationSeries:
    """Write rungs along a ladder: what changed on each (None: nothing), and the medians of both sides."""
    rungs = []
    for index, (change, (first_ns, second_ns)) in enumerate(zip(taken, medians_ns, strict=True)):
        axis, value = change or (None, None)
        step, share = (ladder.steps[index - 1], ladder.shares[index - 1]) if index else (None, None)
        rungs.append(
            AblationRung(
                axis,
                value,
                first_ns,
                second_ns,
                gap_ns=ladder.gaps[index].ends,
                gap_relative=ladder.relative[index].ends,
                step_ns=None if step is None else step.ends,
                share=None if share is None else share.ends,
            )
        )
    rest = None if ladder.remainder_share is None else ladder.remainder_share.ends
    return AblationSeries(workload, quantity, TASK_KIND, SIDES, condition, tuple(rungs), rest, ladder.gaps[0].n)


SERIES = {"ablations": ablation_series}
