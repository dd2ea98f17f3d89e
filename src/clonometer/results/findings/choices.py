"""What each choice costs: every axis of choices or texts that a run scans, but those with findings of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.families import is_beside
from clonometer.plan.cell import AxisValue
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, several_ratios
from clonometer.results.rows.run_estimates import Changes, RunEstimate, RunEstimates, cached_per_run
from clonometer.results.series.ablation import rung_cells
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import axis_words, mechanism_name, stage_place

_KINDS = ("choice", "text")
# Free launches are not averaged over where they ran, so that there is nothing to say of the axis itself.
_NOT_AVERAGED = "placement"
_TEMPERATURES = ("warm", None, "cold")


@dataclass(frozen=True)
class Choice:
    """One value of an axis against another one; ``others`` is what else is off its default."""

    workload: str
    axis: str
    value: AxisValue
    base: AxisValue
    others: tuple[tuple[str, AxisValue], ...]

    def changes(self, estimates: RunEstimates, value: AxisValue) -> Changes:
        """What is off its default where the axis has a value."""
        off_default = {} if value == estimates.default(self.axis) else {self.axis: value}
        return {**dict(self.others), **off_default}

    def numbers(self) -> tuple[int, ...]:
        """The sizes and counts among the others."""
        return tuple(value for _, value in self.others if isinstance(value, int))

    def related_choice(self) -> Choice:
        """The same choice at any size and count."""
        kept = tuple((name, 0 if isinstance(value, int) else value) for name, value in self.others)
        return Choice(self.workload, self.axis, self.value, self.base, kept)


def choices(tests: PairwiseTests) -> Findings:
    """Say of each value of a choice how many times as long it takes as the default one, all else being equal.

    Where the choice was measured at several sizes or counts of something else, it is told at the largest: in between,
    scans have their own findings. Of two rungs of an ablation nothing is said: that tells them together, by the gap
    between its sides.
    """
    estimates = tests.estimates
    axes = dict.fromkeys(axis for row in estimates.rows for axis in row.condition if estimates.kind(axis) in _KINDS)
    rungs = rung_cells(estimates)
    largest_of: dict[Choice, Choice] = {}
    for axis in axes:
        for choice in scanned(estimates, axis, rungs) if axis != _NOT_AVERAGED else ():
            largest = largest_of.setdefault(choice.related_choice(), choice)
            if choice.numbers() > largest.numbers():
                largest_of[choice.related_choice()] = choice
    for choice in largest_of.values():
        if not tests.is_reported(choice.workload, choice.axis, dict(choice.others)):
            yield _choices_finding(tests, choice)


@cached_per_run
def scanned(estimates: RunEstimates, axis: str, rungs: frozenset[str] = frozenset()) -> list[Choice]:
    """Every value of an axis against its default, wherever two values or more were measured.

    Where the default was not, the first value that was takes its place. Of two ``rungs`` nothing is given.
    """
    values: dict[tuple[str, tuple[tuple[str, AxisValue], ...]], dict[AxisValue, set[str]]] = {}
    for row in estimates.rows:
        if axis in row.condition:
            others = tuple(estimates.changes(row, axis).items())
            measured = values.setdefault((row.workload, others), {})
            measured.setdefault(row.condition[axis], set()).add(row.cell)
    scanned = []
    for (workload, others), measured in values.items():
        usual = estimates.default(axis)
        base = usual if usual is not None and usual in measured else next(iter(measured))
        scanned += [
            Choice(workload, axis, value, base, others)
            for value, cells in measured.items()
            if value != base and not cells | measured[base] <= rungs
        ]
    return scanned


def _choices_finding(tests: PairwiseTests, choice: Choice) -> Finding | None:
    for temperature in _TEMPERATURES:
        made = _comparisons(tests, choice, temperature)
        if not made:
            continue
        name = mechanism_name(choice.workload)
        sides = [f"{name} with {axis_words(choice.axis, value)}" for value in (choice.value, choice.base)]
        head = condition(dict(choice.others), temperature, made[0].other.condition.get("placement"))
        last = made[-1]
        sure = next((comparison for comparison in reversed(made) if comparison.direction != Direction.UNKNOWN), last)
        numbers = numbers_of(sure) | {
            "axis": choice.axis,
            "value": choice.value,
            "of": choice.base,
            "ratios": [numbers_of(comparison) | {"quantity": comparison.other.quantity} for comparison in made],
        }
        id_ = ".".join(map(str, [choice.axis, choice.workload, choice.value, *dict(choice.others).values()]))
        text, brief = (headed(head, several_ratios(sides[0], sides[1], comparisons)) for comparisons in (made, [sure]))
        return Finding(f"choice.{id_}", text, numbers, brief)
    return None


def _comparisons(tests: PairwiseTests, choice: Choice, temperature: str | None) -> list[Change[RunEstimate]]:
    """One for each quantity that both have, stages in order of time."""
    pairs = []
    for stage, quantity in _quantities(tests.estimates, choice.workload):
        sides = []
        for value in (choice.value, choice.base):
            changes = choice.changes(tests.estimates, value)
            rows = tests.estimates.select(choice.workload, changes, temperature, stage, quantity)
            # What may be below zero has no ratio.
            sides.append([row for row in rows if row.rankable and not row.signed])
        pair = _where_most_ran(*sides, free=dict(choice.others).get("placement") == "free")
        pairs += [pair] if pair is not None else []
    return tests.compare_all(pairs)


def _where_most_ran(
    a: list[RunEstimate], b: list[RunEstimate], *, free: bool
) -> tuple[RunEstimate, RunEstimate] | None:
    """The rows with most samples; where tasks were free to run anywhere, of those that ran in the same place."""
    if not free:
        return (max(a, key=_size), max(b, key=_size)) if a and b else None
    by_placement: Mapping[str | None, RunEstimate] = {row.placement: row for row in b}
    shared = [(row, by_placement[row.placement]) for row in a if row.placement in by_placement]
    return max(shared, key=lambda pair: min(map(_size, pair)), default=None)


def _size(row: RunEstimate) -> int:
    return row.n_samples


def _quantities(estimates: RunEstimates, workload: str) -> list[tuple[str | None, str]]:
    """What was measured of a workload: what is no stage first, so that the last stage comes last."""
    rows = (row for row in estimates.rows_of(workload) if not row.detail and not is_beside(row.family, row.quantity))
    quantities = dict.fromkeys((row.stage, row.quantity) for row in rows)
    return sorted(quantities, key=lambda entry: -1 if entry[0] is None else stage_place(entry[0]))


FINDERS = (Finder(choices, 220),)
