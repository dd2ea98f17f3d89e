"""Thousands of simulated comparisons of `ab`: how many call a change where there is none, how many see one.

Of 9 kinds of process with 3 rows each, both sides are started in turn, a coin says which first. The whole machine
wanders by 8% (AR(1) of 0.9 from one process to the next), the level of each row jumps by 2% now and then, also within
a pair, the second of a pair is 1% slower, and processes scatter by 5%, or with heavy tails. It is looked on the way and
measured until all is sure, by the functions that `ab` uses. About three minutes; `BENCH_COMPARISONS=100` tries it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.harness import Line, say
from clonometer.results.noise.noise import rate_interval
from clonometer.stats.sequential import PairedDesign, PairedRow, judge

COMPARISONS = int(os.environ.get("BENCH_COMPARISONS", "1000"))
MOST_WRONG, MOST_MISSED = 0.05, 0.05
KINDS, STAGES, PAIRS = 9, 3, 30
LEAST_EFFECT = 0.02
DRIFT, DRIFT_KEPT = 0.08, 0.9
MOMENT, JUMPS = 0.02, 0.05
SECOND = 0.01

Generator = np.random.Generator
Floats = np.ndarray


@dataclass(frozen=True)
class Machine:
    """How processes scatter, as a logarithm, and whether with heavy tails; ``change`` of the first kind on side B.

    ``drift``: how many times as much it drifts as a usual one.
    """

    scatter: float
    heavy: bool = False
    change: float = 0.0
    drift: float = 1.0


def drift(random: Generator, starts: int) -> Floats:
    """The speed of the whole machine at each start of a process: AR(1)."""
    steps = random.normal(size=starts) * np.sqrt(1 - DRIFT_KEPT**2)
    speed = np.empty(starts)
    speed[0] = random.normal()
    for place in range(1, starts):
        speed[place] = DRIFT_KEPT * speed[place - 1] + steps[place]
    return DRIFT * speed


def moments(random: Generator, starts: int) -> Floats:
    """The level of a row at each start of its kind: it jumps now and then."""
    since = np.cumsum(random.random(starts) < JUMPS)
    return MOMENT * random.normal(size=since[-1] + 1)[since]


def scattered(random: Generator, machine: Machine, starts: int) -> Floats:
    """What the processes of a kind differ by."""
    if machine.heavy:
        return machine.scatter * random.standard_t(3, starts) / np.sqrt(3)
    return machine.scatter * random.normal(size=starts)


def comparison(random: Generator, machine: Machine, pairs: int) -> list[PairedRow]:
    """All rows of one comparison."""
    order = np.argsort(random.random((pairs, KINDS)), axis=1)
    # The place of each kind in each turn: where its pair stands among all starts.
    first_starts = 2 * (KINDS * np.arange(pairs)[:, None] + np.argsort(order, axis=1))
    speed = machine.drift * drift(random, 2 * KINDS * pairs)
    rows = []
    for kind in range(KINDS):
        b_first = random.random(pairs) < 0.5
        starts = np.stack([first_starts[:, kind], first_starts[:, kind] + 1], axis=1).ravel()
        common = 0.8 * scattered(random, machine, 2 * pairs)
        for _ in range(STAGES):
            logs = speed[starts] + moments(random, 2 * pairs) + common + 0.6 * scattered(random, machine, 2 * pairs)
            first, second = logs.reshape(pairs, 2).T
            later = second + SECOND - first
            change = np.log1p(machine.change) if kind == 0 else 0.0
            rows.append(PairedRow(kind, np.arange(pairs), np.where(b_first, -later, later) + change))
    return rows


def simulated(comparisons: int, machine: Machine, *, pairs: int = PAIRS, seed: int = 1) -> tuple[int, int, float]:
    """How many comparisons call a row changed that is not, how many see the change in all its rows; pairs a kind."""
    random = np.random.default_rng(seed)
    design = PairedDesign(pairs, LEAST_EFFECT)
    wrong = seen = used = 0
    for _ in range(comparisons):
        rows = judge(comparison(random, machine, pairs), design).rows
        called = [row.changed(LEAST_EFFECT) for row in rows]
        changed = STAGES if machine.change else 0
        wrong += any(called[changed:]) or any(call < 0 for call in called[:changed])
        seen += changed > 0 and all(call > 0 for call in called[:changed])
        used += sum(row.pairs for row in rows)
    return wrong, seen, used / comparisons / (KINDS * STAGES)


def run() -> Iterator[Line]:
    cases = (
        ("still", Machine(0.01, drift=0.1), 60),
        ("quiet", Machine(0.01), 60),
        ("usual", Machine(0.05), 60),
        ("heavy", Machine(0.05, heavy=True), 60),
        ("changed", Machine(0.05, change=0.1), 30),
        ("changed_heavy", Machine(0.05, heavy=True, change=0.1), 30),
    )
    for name, machine, pairs in cases:
        wrong, seen, used = simulated(COMPARISONS, machine, pairs=pairs)
        note = f"{wrong} of {COMPARISONS} comparisons; {used:.0f} of {pairs} pairs a kind"
        yield _share(f"{name}.wrong", wrong, MOST_WRONG, note)
        if machine.change:
            missed = COMPARISONS - seen
            note = f"a change of {machine.change:.0%} in {missed} of {COMPARISONS} not seen"
            yield _share(f"{name}.missed", missed, MOST_MISSED, note)


def _share(name: str, count: int, most: float, note: str) -> Line:
    low, high = rate_interval(count, COMPARISONS)
    return say(Line(f"simulated_pairs.{name}", count / COMPARISONS, low, high, most, "share", note))
