"""What tracing costs a launch: traced and untraced launches that were neighbours in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from clonometer.answers import Trace
from clonometer.plan.types import Target
from clonometer.stats.paired_ratio import paired_ratio
from clonometer.stats.processes import pair_neighbours
from clonometer.tracing.launches import Launch, launches_of
from clonometer.tracing.types import IntervalEstimate

SEED = 5
# A window holds so many launches at least and is so long at least: attaching takes 2 to 15 ms.
_LAUNCHES_A_WINDOW = 24
_SHORTEST_WINDOW_NS = 8_000_000
# How long one process launches, and above which length of a launch it would have too few windows for that.
_PROCESS_NS = 300_000_000
_LONGEST_LAUNCH_NS = 1_000_000
# The first launches after a turn meet what attaching left cold.
_COLD_LAUNCHES = 3
# Medians of fewer launches than these are no pair.
_FEWEST_LAUNCHES = 5


@dataclass(frozen=True)
class Alternation:
    """How one process launches while somebody listens and does not, in turn."""

    target: Target
    window_ns: int


@dataclass(frozen=True)
class Span:
    """A window and the launches that lie within it, but the first ones."""

    listened: bool
    launches: tuple[Launch, ...]


def plan_alternation(target: Target, trace: Trace) -> Alternation | None:
    """Say how long the turns must be for launches as long as those of ``trace``.

    None where one process would have too few launches for it: cold ones, and long ones, of which tracing is a small
    share anyway.
    """
    rows = sum(len(block.columns["errno"]) for block in trace.blocks)
    if trace.how != "fast" or rows < 2 or any(block.temperature == "cold" for block in trace.blocks):
        return None
    each_ns = sum(int(block.facts["wall_ns"]) for block in trace.blocks) / rows
    if not 0 < each_ns <= _LONGEST_LAUNCH_NS:
        return None
    window_ns = max(_SHORTEST_WINDOW_NS, int(_LAUNCHES_A_WINDOW * each_ns))
    # Twice as many as are to be expected: time ends it.
    samples = int(2 * _PROCESS_NS / each_ns)
    limits = replace(target.limits, samples=samples, blocks=1, block_limit_ns=_PROCESS_NS)
    return Alternation(replace(target, limits=limits), window_ns)


def spans_of(trace: Trace) -> list[Span]:
    """Take the launches of a process apart by who listened; those that a turn fell into are left out.

    So is the last one before a turn: whose its last events are is known from the next switch only.
    """
    launches = list(launches_of(trace))
    starts = np.array([launch.start_ns for launch in launches], np.int64)
    ends = np.array([launch.end_ns for launch in launches], np.int64)
    spans = []
    for begin_ns, end_ns, listened in trace.windows:
        first = int(starts.searchsorted(begin_ns)) + _COLD_LAUNCHES
        last = int(ends.searchsorted(end_ns, "right")) - 1
        spans.append(Span(listened, tuple(launches[first : max(first, last)])))
    return spans


def pairs_within(spans: Sequence[Span]) -> list[float]:
    """Logarithms of traced over untraced at each turn of one process.

    The later half of a window's launches is set against the earlier half of the next window's: each launch is in one
    pair, every other pair has the traced ones first, and drift cancels as in the order ABBA.
    """
    ratios = []
    for before, after in pairwise(spans):
        earlier = before.launches[len(before.launches) // 2 :]
        later = after.launches[: (len(after.launches) + 1) // 2]
        traced, untraced = (earlier, later) if before.listened else (later, earlier)
        ratio = log_ratio(traced, untraced)
        if before.listened != after.listened and ratio is not None:
            ratios.append(ratio)
    return ratios


def log_ratio(traced: Sequence[Launch], untraced: Sequence[Launch]) -> float | None:
    """Logarithm of the ratio of medians, same placement against same placement.

    Where launches have run on the same CPU and on others it is the mean over the two, weighted by how much is known
    of each; None where neither has enough launches on both sides.
    """
    ratios, weights = [], []
    for placement in (True, False, None):
        sides = [[launch.reaped_ns for launch in side if launch.same_cpu is placement] for side in (traced, untraced)]
        counts = [len(side) for side in sides]
        if min(counts) >= _FEWEST_LAUNCHES and min(map(min, sides)) > 0:
            ratios.append(math.log(float(np.median(sides[0])) / float(np.median(sides[1]))))
            weights.append(counts[0] * counts[1] / sum(counts))
    return float(np.average(ratios, weights=weights)) if ratios else None


def pairs_between(
    traced: Sequence[tuple[float, Sequence[Launch]]], untraced: Sequence[tuple[float, Sequence[Launch]]]
) -> list[float]:
    """Logarithms of traced over untraced of processes that ran one after the other."""
    first, second = pair_neighbours([when for when, _ in traced], [when for when, _ in untraced])
    ratios = (_of_processes(traced[a][1], untraced[b][1]) for a, b in zip(first, second, strict=True))
    return [ratio for ratio in ratios if ratio is not None]


def _of_processes(traced: Sequence[Launch], untraced: Sequence[Launch]) -> float | None:
    """One pair, of few launches too, as a cold process has but one."""
    if min(len(traced), len(untraced)) >= _FEWEST_LAUNCHES:
        return log_ratio(traced, untraced)
    same = [[launch.same_cpu for launch in side] for side in (traced, untraced)]
    if set(same[0]) != set(same[1]):
        return None
    medians = [float(np.median([launch.reaped_ns for launch in side])) for side in (traced, untraced)]
    return math.log(medians[0] / medians[1]) if min(medians) > 0 else None


def overhead_of(groups: Sequence[Sequence[float]]) -> IntervalEstimate:
    """How much longer traced launches are than untraced ones, as a share, from the pairs of each process."""
    ratio = paired_ratio(groups, seed=SEED)
    return IntervalEstimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)


def listened(spans: Sequence[Span], most: int) -> Iterator[Launch]:
    """Up to ``most`` of the launches that were listened to, evenly over all windows."""
    launches = [launch for span in spans if span.listened for launch in span.launches]
    chosen = np.linspace(0, max(len(launches) - 1, 0), min(most, len(launches))).round().astype(int)
    return (launches[k] for k in chosen.tolist())
