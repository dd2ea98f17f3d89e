"""The known answer: delays of known length, injected at known places, must move the stages that they should.

Pinned to one CPU, parent and child run one after the other: the child starts when the parent blocks. So a
delay after the parent's call moves all three stages; before the child's stamp, ``task_runs`` and ``reaped``;
before the child's exit, ``reaped`` alone. With the child on another CPU they overlap: a delay after the
parent's call moves ``call_returns``, leaves ``task_runs``, and moves ``reaped`` by no more than itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.families import CALL, END, known_delays
from clonometer.results.self_test_types import MoveCheck, WallCheck
from clonometer.stats.quantiles import Floats, median, median_deviation, median_error
from clonometer.words import stage_place

SPINS = tuple(known_delays())
#: What is checked: for each delay, in their order, the first stage that it can reach.
STAGES = tuple(stage for _, stage in known_delays().values())
INJECTED_NS = (20_000, 200_000)
WALL_SHARE = 0.01

_LEAST_SAMPLES = 20
# Other work on the same CPU can only add to a launch. The question is where the stamps stand, not what a
# launch costs on a busy machine, so the disturbed half of the launches is left out of it.
_QUANTILE = 0.1
_SHARE = 0.05
_FLOOR_NS = 5_000.0
# A parent that waits longer lets its CPU sleep deeper, and wakes later: an effect of the machine, not an
# error of the clock. It is allowed where parent and child are on two CPUs.
_WAKE_FLOOR_NS = 30_000.0
#: Standard errors within which a result is not told from the tolerance's edge.
_UNCERTAINTY = 2.0


@dataclass(frozen=True)
class KnownSamples:
    """One block measured with a known delay.

    Attributes
    ----------
    workload, placement
        What was asked for.
    spin, injected_ns
        The driver's key and its value; the key is None where nothing was injected.
    columns
        The driver's columns by name (docs/protocol.md), shape (rows,); nulls are negative.
    wall_ns
        The block's wall time by the other clock, in ns.
    """

    workload: str
    placement: str
    spin: str | None
    injected_ns: int
    columns: Mapping[str, NDArray[Any]]
    wall_ns: float


def check_moves(measured: Sequence[KnownSamples]) -> list[MoveCheck]:
    """Compare how far each stage moved with what the placement predicts.

    The move is the difference of the medians, with and without the delay, of the blocks' first deciles. The
    tolerance is 5% of the delay, and in addition the larger of 5 us and three times the spread of those
    deciles (their median absolute deviation); on two CPUs the floor is 30 us for the stages that end with a
    wake-up. What lies within two of its own standard errors of the tolerance's edge, on either side, cannot be told.
    """
    checks: list[MoveCheck] = []
    for workload, placement in dict.fromkeys((known.workload, known.placement) for known in measured):
        group = [known for known in measured if (known.workload, known.placement) == (workload, placement)]
        plain = {stage: _block_deciles(group, None, 0, stage) for stage in STAGES}
        for spin in SPINS:
            for injected_ns in sorted({known.injected_ns for known in group if known.spin == spin}):
                for stage in STAGES:
                    moved = _block_deciles(group, spin, injected_ns, stage)
                    ends = predicted_ns(spin, stage, placement, injected_ns)
                    case = MoveCheck(workload, placement, spin, injected_ns, stage, *ends, None, None)
                    checks.append(_judge(case, plain[stage], moved))
    return checks


def check_walls(measured: Sequence[KnownSamples]) -> list[WallCheck]:
    """Compare each block's length by its samples with its length by CLOCK_MONOTONIC: equal within 1%.

    One for each workload and placement; ``worst_share`` is the largest relative difference of its blocks.
    """
    checks = []
    for workload, placement in dict.fromkeys((known.workload, known.placement) for known in measured):
        shares = [
            abs(_length_ns(known) - known.wall_ns) / known.wall_ns
            for known in measured
            if (known.workload, known.placement) == (workload, placement) and known.wall_ns > 0
        ]
        worst = max(shares, default=1.0)
        checks.append(WallCheck(workload, placement, len(shares), worst, _wall_verdict(shares)))
    return checks


def _wall_verdict(shares: Sequence[float]) -> bool | None:
    if not shares or max(shares) <= WALL_SHARE:
        return bool(shares)
    values = np.array(shares)
    sure = median(values) - _UNCERTAINTY * median_error(values) > WALL_SHARE
    return False if sure else None


def passed(moves: Iterable[MoveCheck], walls: Iterable[WallCheck]) -> bool:
    """Whether something was observed and nothing failed; one CPU alone cannot show half of the moves."""
    verdicts = [check.passed for check in moves]
    return True in verdicts and False not in verdicts and all(check.passed is not False for check in walls)


def predicted_ns(spin: str, stage: str, placement: str, injected_ns: int) -> tuple[float, float]:
    """Bound the move of a stage, without tolerance.

    Examples
    --------
    >>> predicted_ns("call_spin_ns", "task_runs", "pinned", 200)
    (200.0, 200.0)
    >>> predicted_ns("call_spin_ns", "reaped", "free", 200)
    (0.0, 200.0)
    """
    first = known_delays()[spin][1]
    # On another CPU the child does not wait for the parent's call.
    beside = placement == "free" and first == CALL and stage not in (CALL, END)
    if beside or stage_place(stage) < stage_place(first):
        return 0.0, 0.0
    if placement == "free" and stage == END:
        # The parent may still have been busy when the child was done: that slack is used up first.
        return (0.0 if first == CALL or injected_ns < 100_000 else injected_ns / 2), float(injected_ns)
    return float(injected_ns), float(injected_ns)


def _judge(case: MoveCheck, plain: Floats, moved: Floats) -> MoveCheck:
    """Judge a move, of which ``case`` has the prediction without tolerance."""
    if not len(plain) or not len(moved):
        seen = "another CPU" if case.placement == "free" else "the same CPU"
        return replace(case, reason=f"too few launches put the child on {seen}")
    spread = max(median_deviation(plain), median_deviation(moved))
    waits = case.placement == "free" and case.stage != CALL
    floor_ns = _WAKE_FLOOR_NS if waits else _FLOOR_NS
    tolerance = _SHARE * case.injected_ns + max(floor_ns, 3 * spread)
    difference = median(moved) - median(plain)
    low, high = case.expected_low_ns - tolerance, case.expected_high_ns + tolerance
    case = replace(case, expected_low_ns=low, expected_high_ns=high, moved_ns=difference)
    if 3 * spread > max(floor_ns, case.injected_ns):
        return replace(case, reason="the launches scatter by more than the delay")
    to_edge = min(abs(difference - low), abs(difference - high))
    uncertain = _UNCERTAINTY * (median_error(plain) ** 2 + median_error(moved) ** 2) ** 0.5
    # At the edge by no more than it is known itself, it is neither within nor beyond.
    if to_edge <= uncertain:
        return replace(case, reason="too uncertain to say on which side of the expected range it lies")
    return replace(case, passed=low <= difference <= high)


def _block_deciles(group: Sequence[KnownSamples], spin: str | None, injected_ns: int, stage: str) -> Floats:
    """First decile of a stage in each block with enough launches of the wanted observed placement, in ns."""
    deciles = []
    for known in group:
        if (known.spin, known.injected_ns) != (spin, injected_ns):
            continue
        values = np.asarray(known.columns[f"{stage}_ns"])[_wanted_rows(known)]
        if len(values) >= _LEAST_SAMPLES:
            deciles.append(float(np.quantile(values, _QUANTILE)))
    return np.array(deciles, dtype=np.float64)


def _wanted_rows(known: KnownSamples) -> NDArray[np.bool_]:
    before, child = np.asarray(known.columns["cpu_before"]), np.asarray(known.columns["cpu_child"])
    launched = np.asarray(known.columns["errno"]) == 0
    return np.asarray(launched & ((before != child) if known.placement == "free" else (before == child)))


def _length_ns(known: KnownSamples) -> float:
    start, reaped = known.columns["start_ns"], known.columns["reaped_ns"]
    return float(start[-1] + max(reaped[-1], 0)) if len(start) else 0.0
