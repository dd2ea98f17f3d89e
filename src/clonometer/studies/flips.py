"""What reverses a contradiction: pairs under every condition that was tried, a factorial, and one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.factorial import DesignPoint, factorial_effects
from clonometer.stats.verdict import ERROR_RATE, Levels
from clonometer.studies.cells import axes_of, cell, condition_words, quantity_words
from clonometer.studies.judge import Judge
from clonometer.studies.pairings import pairs_of
from clonometer.studies.types import Design, Effect, Pair, Pairing, Reconciliation
from clonometer.verdicts import Status

#: Axes that a machine may refuse to set at all.
_HARD_TO_SET = ("frequency", "linkage", "mlockall", "page_kind", "stack_kind", "cpus")


def reconcile(pairing: Pairing, judge: Judge) -> Reconciliation | None:
    """Look for the condition that reverses a contradiction; None where no pair was measured."""
    pairs = pairs_of(pairing, judge)
    if not pairs:
        return None
    effects = {
        quantity: tuple(effect for design in pairing.designs for effect in _effects(pairing, design, quantity, judge))
        for quantity in pairing.quantities
        if any(pair.quantity == quantity for pair in pairs)
    }
    bases = {pair.quantity: pair for pair in pairs if dict(pair.condition) == dict(pairing.base)}
    signs = {quantity: _sign_of(base, judge) for quantity, base in bases.items()}
    against = _reversing(pairs, signs, judge)
    against.sort(key=lambda pair: (_distance(pairing, pair), -pair.change.size))
    # Two quantities whose bases themselves disagree: the stage is the condition.
    by_stage = {-1, 1} <= set(signs.values())
    sentence = _sentence(pairing, pairs, bases, against, by_stage=by_stage)
    # Who is right is what the ledger says of their claims, each under the conditions of its study.
    right = tuple(side for side in pairing.favours if judge.verdict(side.partition(":")[0]).direction == Status.HOLDS)
    untried = tuple(_untried(pairing, judge))
    return Reconciliation(
        pairing, sentence, tuple(bases.values()), right, tuple(against), tuple(pairs), effects, untried, None, by_stage
    )


def _p_values(pair: Pair, judge: Judge) -> tuple[float, float]:
    """That the first side of a pair takes longer by the least effect, and that the second does."""
    first, second = ((text, pair.quantity) for text in pair.cells)
    return judge.part("", first, second).met, judge.part("", first, second, "below").met


def _sign_of(pair: Pair, judge: Judge) -> int:
    """Which side of a pair surely takes longer: 1 the first, -1 the second, 0 where nobody can tell."""
    longer, shorter = (p <= ERROR_RATE for p in _p_values(pair, judge))
    return longer - shorter


def _reversing(pairs: Sequence[Pair], signs: Mapping[str, int], judge: Judge) -> list[Pair]:
    """The pairs that surely go against their base; corrected together, since of so many some would by chance."""
    p_values = [
        1.0 if sign == 0 else _p_values(pair, judge)[sign > 0]
        for pair in pairs
        for sign in [signs.get(pair.quantity, 0)]
    ]
    level = Levels.of(p_values).sure
    return [pair for pair, p in zip(pairs, p_values, strict=True) if p <= level]


def _untried(pairing: Pairing, judge: Judge) -> Iterable[str]:
    """Conditions of either side that were planned and could not be set, said once for each reason."""
    workloads = {axes_of(side)[0] for side in (pairing.a, pairing.b)}
    tried = {axis: {axes_of(text)[1].get(axis) for text in judge.measured.cells} for axis in _HARD_TO_SET}
    values_by_reason: dict[tuple[str, str], list[str]] = {}
    for text, why in judge.measured.missing.items():
        workload, axes = axes_of(text)
        if workload not in workloads:
            continue
        for axis in _HARD_TO_SET:
            if axis in axes and axes[axis] not in tried[axis]:
                values = values_by_reason.setdefault((axis, why.removeprefix(f"{axis}={axes[axis]}: ")), [])
                if axes[axis] not in values:
                    values.append(axes[axis])
    for (axis, why), values in values_by_reason.items():
        yield f"{axis} {', '.join(values)} ({why})"


def _distance(pairing: Pairing, pair: Pair) -> int:
    names = set(pair.condition) | set(pairing.base)
    return sum(pair.condition.get(name) != pairing.base.get(name) for name in names)


def _sentence(
    pairing: Pairing, pairs: Sequence[Pair], bases: Mapping[str, Pair], against: Sequence[Pair], *, by_stage: bool
) -> str:
    a, b = pairing.a_words, pairing.b_words
    low, high = (pick(pairs, key=lambda pair: pair.change.value or 0.0) for pick in (min, max))
    span = (
        f"over {len(pairs)} comparisons the ratio of {a} to {b} moved from {low.change.text} "
        f"({condition_words(low.condition)}, {quantity_words(low.quantity)}) to {high.change.text} "
        f"({condition_words(high.condition)}, {quantity_words(high.quantity)})"
    )
    if not bases:
        return f"The base condition was not measured; {span}."
    if by_stage:
        clauses = ", ".join(f"{pair.change.text} {quantity_words(quantity)}" for quantity, pair in bases.items())
        return f"The stage reverses it: {a} over {b} is {clauses}; {span}."
    if not against:
        return f"No condition that was tried reverses it here: {span}."
    first = against[0]
    base = bases[first.quantity]
    changed, *others = dict.fromkeys(condition_words(pairing.changed_in(pair)) for pair in against)
    more = len(others)
    also = f" (so do {more} other conditions)" if more > 1 else " (so does one other)" if more == 1 else ""
    return (
        f"{changed[0].upper()}{changed[1:]} reverses it{also}: {quantity_words(first.quantity)}, {a} over {b} goes "
        f"from {base.change.text} to {first.change.text}; {span}."
    )


def _effects(pairing: Pairing, design: Design, quantity: str, judge: Judge) -> list[Effect]:
    """The effects of a design; none where not each of its points was measured."""
    points = []
    sides: list[RunEstimate] = []
    for levels in product((0, 1), repeat=len(design.factors)):
        chosen = {axis: design.factors[axis][level] for axis, level in zip(design.factors, levels, strict=True)}
        condition = {axis: value for axis, value in {**design.held, **chosen}.items() if value}
        sides = []
        for name in (pairing.a, pairing.b):
            workload, fixed = axes_of(name)
            axes = {
                axis: value for axis, value in condition.items() if name == pairing.a or axis not in design.first_only
            }
            row = judge.measured.find(cell(workload, **fixed, **axes), quantity)
            if row is not None and row.n_processes >= FEWEST_PROCESSES and row.processes.values.min() > 0:
                sides.append(row)
        if len(sides) < 2:
            return []
        named = dict(zip(design.factors, levels, strict=True))
        points.append(DesignPoint(named, sides[0].processes, sides[1].processes))
    estimated = factorial_effects(points, seed=judge.seed(*sides))
    return [Effect(effect.factors, *effect.times.ends, design.words) for effect in estimated]
