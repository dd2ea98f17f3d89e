"""Two workloads under every condition that was measured for both."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.studies.cells import axes_of
from clonometer.studies.judge import Judge
from clonometer.studies.types import Pair, Pairing

#: Axes that only one side of a pair has: the other side is then the one that does not name it.
_ONE_SIDED = ("stack_cache", "stack_kind", "stack_bytes", "thread_ending", "process_ending", "guard", "detached")


def pairs_of(pairing: Pairing, judge: Judge) -> Sequence[Pair]:
    """Every pair of a pairing, for each of its quantities; worked out once for each judge."""
    if pairing.id not in judge.pairs:
        judge.pairs[pairing.id] = _pairs(pairing, judge)
    return judge.pairs[pairing.id]


def _pairs(pairing: Pairing, judge: Judge) -> Sequence[Pair]:
    told_apart = {axis for side in (pairing.a, pairing.b) for axis in axes_of(side)[1]}
    sides = [_side(workload, told_apart, judge) for workload in (pairing.a, pairing.b)]
    pairs: dict[tuple[str, ...], Pair] = {}
    for first, second in ((0, 1), (1, 0)):
        for text, condition in sides[first].items():
            common = {name: value for name, value in condition.items() if name not in _ONE_SIDED}
            special = {name: value for name, value in condition.items() if name in _ONE_SIDED}
            other = next((candidate for candidate, theirs in sides[second].items() if theirs == common), None)
            if other is None or (not special and first == 1):
                continue
            cells = (text, other) if first == 0 else (other, text)
            for quantity in pairing.quantities:
                a, b = (judge.measured.find(text, quantity) for text in cells)
                if a is not None and b is not None:
                    ratio = judge.ratio(a, b)
                    pair = Pair(condition, quantity, *ratio.ends, ratio.n, cells)
                    pairs.setdefault((*cells, quantity), pair)
    return list(pairs.values())


def _side(name: str, told_apart: set[str], judge: Judge) -> dict[str, dict[str, str]]:
    """Cells of one side with their conditions; what tells the sides apart is no condition."""
    workload, fixed = axes_of(name)
    side = {}
    for text in judge.measured.cells:
        workload_of_cell, axes = axes_of(text)
        if workload_of_cell == workload and {axis: axes[axis] for axis in told_apart if axis in axes} == fixed:
            side[text] = {axis: value for axis, value in axes.items() if axis not in fixed}
    return side
