"""What reverses a contradiction: pairs under every condition that was tried, a factorial, and one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clonometer.stats.factorial import DesignPoint, factorial_effects
from clonometer.studies.cells import axes_of, cell, condition_words
from clonometer.studies.judge import Judge
from clonometer.studies.measured import Series
from clonometer.studies.types import Effect, Pair, Pairing, Reconciliation
from clonometer.units import format_ratio

_STAGES = {
    "call_returns_ns": "until the call returns",
    "task_runs_ns": "until the task runs",
    "reaped_ns": "until reaped",
    "wall_ns": "in wall time",
    "whole_ns": "for the whole work",
}
#: Axes that only one side of a pair has: the other side is then the one that does not name it.
_ONE_SIDED = ("stack_cache", "stack_kind", "stack_bytes", "thread_ending", "process_ending", "guard", "detached")


def reconcile(pairing: Pairing, judge: Judge) -> Reconciliation | None:
    """Look for the condition that reverses a contradiction; None where no pair was measured.

    Parameters
    ----------
    pairing
        What contradicts what.
    judge
        What was measured.
    """
    pairs = _pairs(pairing, judge)
    if not pairs:
        return None
    effects = {
        quantity: tuple(_effects(pairing, quantity, judge))
        for quantity in pairing.quantities
        if any(pair.quantity == quantity for pair in pairs)
    }
    bases = _bases(pairing, pairs)
    majority = {quantity: base.sign for quantity, base in bases.items()}
    against = [pair for pair in pairs if pair.sign * majority.get(pair.quantity, 0) < 0]
    against.sort(key=lambda pair: (_distance(pairing, pair), -_size(pair)))
    # Two quantities whose bases themselves disagree: the stage is the condition.
    return Reconciliation(pairing, _sentence(pairing, pairs, bases, against), tuple(against), tuple(pairs), effects)


def _pairs(pairing: Pairing, judge: Judge) -> list[Pair]:
    told_apart = {axis for side in (pairing.a, pairing.b) for axis in axes_of(side)[1]}
    sides = [_side(workload, told_apart, judge) for workload in (pairing.a, pairing.b)]
    found: dict[tuple[str, ...], Pair] = {}
    for first, second in ((0, 1), (1, 0)):
        for text, condition in sides[first].items():
            common = {name: value for name, value in condition.items() if name not in _ONE_SIDED}
            own = {name: value for name, value in condition.items() if name in _ONE_SIDED}
            other = next((one for one, theirs in sides[second].items() if theirs == common), None)
            if other is None or (not own and first == 1):
                continue
            cells = (text, other) if first == 0 else (other, text)
            for quantity in pairing.quantities:
                a, b = (judge.measured.find(one, quantity) for one in cells)
                if a is not None and b is not None:
                    ratio = judge.ratio(a, b)
                    pair = Pair(condition, quantity, ratio.value, ratio.low, ratio.high, ratio.n, cells)
                    found.setdefault((*cells, quantity), pair)
    return list(found.values())


def _side(name: str, told_apart: set[str], judge: Judge) -> dict[str, dict[str, str]]:
    """Cells of one side with their conditions; what tells the sides apart is no condition."""
    workload, fixed = axes_of(name)
    side = {}
    for text in judge.measured.cells:
        own, axes = axes_of(text)
        if own == workload and {axis: axes[axis] for axis in told_apart if axis in axes} == fixed:
            side[text] = {axis: value for axis, value in axes.items() if axis not in fixed}
    return side


def _bases(pairing: Pairing, pairs: Iterable[Pair]) -> dict[str, Pair]:
    return {pair.quantity: pair for pair in pairs if dict(pair.condition) == dict(pairing.base)}


def _distance(pairing: Pairing, pair: Pair) -> int:
    names = set(pair.condition) | set(pairing.base)
    return sum(pair.condition.get(name) != pairing.base.get(name) for name in names)


def _size(pair: Pair) -> float:
    return max(pair.value, 1 / pair.value)


def _text(pair: Pair) -> str:
    return format_ratio(pair.value, pair.low, pair.high)


def _sentence(pairing: Pairing, pairs: Sequence[Pair], bases: Mapping[str, Pair], against: Sequence[Pair]) -> str:
    a, b = pairing.a_words, pairing.b_words
    low, high = (pick(pairs, key=lambda pair: pair.value) for pick in (min, max))
    span = (
        f"over {len(pairs)} comparisons the ratio of {a} to {b} moved from {_text(low)} "
        f"({condition_words(low.condition)}, {_STAGES[low.quantity]}) to {_text(high)} "
        f"({condition_words(high.condition)}, {_STAGES[high.quantity]})"
    )
    if not bases:
        return f"The base condition was not measured; {span}."
    signs = {pair.sign for pair in bases.values()}
    if {-1, 1} <= signs:
        clauses = ", ".join(f"{_text(pair)} {_STAGES[quantity]}" for quantity, pair in bases.items())
        return f"The stage reverses it: {a} over {b} is {clauses}; {span}."
    if not against:
        return f"No condition that was tried reverses it here: {span}."
    first = against[0]
    base = bases[first.quantity]
    changed = _changes(pairing, first)
    more = len(dict.fromkeys(_changes(pairing, pair) for pair in against)) - 1
    also = f" (so do {more} other conditions)" if more > 1 else " (so does one other)" if more == 1 else ""
    return (
        f"{changed[0].upper()}{changed[1:]} reverses it{also}: {_STAGES[first.quantity]}, {a} over {b} goes from "
        f"{_text(base)} to {_text(first)}; {span}."
    )


def _changes(pairing: Pairing, pair: Pair) -> str:
    """Name what differs from the base."""
    names = sorted(set(pair.condition) | set(pairing.base))
    changed = {
        name: pair.condition.get(name, "") for name in names if pair.condition.get(name) != pairing.base.get(name)
    }
    said = {name: value for name, value in changed.items() if value}
    return condition_words(said)


def _effects(pairing: Pairing, quantity: str, judge: Judge) -> list[Effect]:
    """The factorial, if every combination was measured."""
    from itertools import product

    points = []
    for levels in product((0, 1), repeat=len(pairing.factors)):
        chosen = {axis: pairing.factors[axis][level] for axis, level in zip(pairing.factors, levels, strict=True)}
        condition = {axis: value for axis, value in chosen.items() if value}
        sides: list[Series] = []
        for name in (pairing.a, pairing.b):
            workload, fixed = axes_of(name)
            found = judge.measured.find(cell(workload, **fixed, **condition), quantity)
            if found is not None and found.processes.values.min() > 0:
                sides.append(found)
        if len(sides) < 2:
            return []
        named = dict(zip(pairing.factors, levels, strict=True))
        points.append(DesignPoint(named, sides[0].processes, sides[1].processes))
    estimated = factorial_effects(points, seed=judge.seed(*sides))
    return [Effect(one.factors, one.times.value, one.times.low, one.times.high) for one in estimated]


_LAUNCH_FACTORS = {
    "temperature": ("warm", "cold"),
    "parent_bytes": ("", "16MiB"),
    "linkage": ("", "dynamic_now"),
    "placement": ("", "free"),
}

PAIRINGS: tuple[Pairing, ...] = (
    Pairing(
        "launch",
        "Is a thread slower to launch than a process?",
        ("S11: threads are slower", "B6: processes are, by 7 times", "L6: processes are, by 13 times"),
        "launch.pthread",
        "launch.fork",
        "a thread",
        "a process",
        ("call_returns_ns", "task_runs_ns", "reaped_ns"),
        _LAUNCH_FACTORS,
        {"temperature": "warm"},
    ),
    Pairing(
        "flags",
        "Do the flags that pthread_create passes to clone cost or save time?",
        ("S21: they cost", "B12: they save"),
        "flags.settls",
        "flags.none",
        "clone3 with all of them",
        "clone3 with none",
        ("call_returns_ns", "task_runs_ns"),
        _LAUNCH_FACTORS,
        {"temperature": "warm"},
    ),
    Pairing(
        "work",
        "Do workers that are threads take longer than workers that are processes?",
        ("U7: they do beyond the CPUs", "U12: processes cost less to create", "L6: threads do, by 13 times"),
        "work.factor",
        "work.factor[task_kind=process]",
        "threads",
        "processes",
        ("whole_ns",),
        {
            "workers": ("2", "8"),
            "numbers": ("200", "2000"),
            "output": ("", "shared_stream"),
            "allocate": ("", "each_number"),
        },
        {"numbers": "200", "workers": "2"},
    ),
)
