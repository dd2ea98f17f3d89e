from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.fakes.fake_trace import FakeTrace, FakeTracer, events_array, fork_trace, launches_block
from tests.tracing.test_anatomy import target

from clonometer.tracing.anatomy import TraceOptions, explain
from clonometer.tracing.launches import launches_of
from clonometer.tracing.overhead import log_ratio, overhead_of, pairs_between, pairs_within, plan_alternation, spans_of
from clonometer.tracing.types import LaunchCounts

PER_WINDOW = 40
GAP = 3


def turns_trace(windows: int = 8, share: float = 0.1, drift: float = 0.0, **columns: Sequence[int]) -> FakeTrace:
    """Launches of 100 us, ``share`` longer where somebody listens; ``drift`` is what each makes all later ones longer.

    Between two windows lie launches that a turn fell into, which are far too long.
    """
    starts, reaped, spans = [], [], []
    at = 0
    for window in range(windows):
        listened = window % 2 == 0
        begin = 1000 + at
        for _ in range(PER_WINDOW):
            slower = 1 + drift * len(starts)
            starts.append(at)
            reaped.append(round(100_000 * slower * (1 + share * listened)))
            at += 200_000
        spans.append((begin, 1000 + at, listened))
        for _ in range(GAP):
            starts.append(at)
            reaped.append(5_000_000)
            at += 5_000_000
    cycled = {name: [values[k % len(values)] for k in range(len(starts))] for name, values in columns.items()}
    block = launches_block(starts, reaped, wall_ns=len(starts) * 200_000, **cycled)
    return FakeTrace("fast", events_array([]), (block,), windows=tuple(spans))


def ratio_of(trace: FakeTrace) -> float:
    return math.exp(float(np.median(pairs_within(spans_of(trace)))))


def test_neighbouring_windows_of_one_process_are_compared() -> None:
    trace = turns_trace()
    spans = spans_of(trace)
    assert [span.listened for span in spans] == [True, False] * 4
    # The first ones after a turn are left out, the last before it, and those that it fell into.
    assert [len(span.launches) for span in spans] == [PER_WINDOW - 4] * 8
    assert len(pairs_within(spans)) == 7
    assert ratio_of(trace) == pytest.approx(1.1)


def test_drift_cancels() -> None:
    # A machine that becomes half as fast during one process, six times as much as listening costs.
    pairs = pairs_within(spans_of(turns_trace(windows=9, share=0.08, drift=0.5 / 320)))
    assert math.exp(float(np.median(pairs))) - 1 == pytest.approx(0.08, abs=0.005)
    assert max(pairs) - min(pairs) > 0.02


def test_a_placement_is_compared_with_itself() -> None:
    # On another CPU a launch takes thrice as long, and more are so where somebody listens.
    same_cpu, other_cpu = [1] * 5, [0] * 5
    spans = spans_of(turns_trace(windows=2, share=0.0, cpu_before=[1], cpu_child=same_cpu + other_cpu))
    traced = [
        launch if launch.same_cpu else replace(launch, reaped_ns=3 * launch.reaped_ns) for launch in spans[0].launches
    ]
    untraced = [
        launch if launch.same_cpu else replace(launch, reaped_ns=3 * launch.reaped_ns) for launch in spans[1].launches
    ]
    fewer = [candidate for candidate in untraced if candidate.same_cpu] + [
        candidate for candidate in untraced if not candidate.same_cpu
    ][:6]
    assert {candidate.same_cpu for candidate in traced} == {True, False}
    assert log_ratio(traced, fewer) == pytest.approx(0.0)
    assert (
        log_ratio(
            [candidate for candidate in traced if candidate.same_cpu],
            [candidate for candidate in untraced if not candidate.same_cpu],
        )
        is None
    )


def test_processes_that_ran_one_after_the_other_are_pairs_too() -> None:
    def process(reaped: int) -> list[Any]:
        return list(launches_of(fork_trace("none", blocks=(launches_block([0] * 5, [reaped] * 5),))))

    traced = [(0.0, process(110)), (3.0, process(220))]
    untraced = [(1.0, process(100)), (2.0, process(200))]
    assert [round(math.exp(logarithm), 9) for logarithm in pairs_between(traced, untraced)] == [1.1, 1.1]
    figure = overhead_of([pairs_between(traced, untraced)])
    assert (figure.value, figure.low, figure.high) == pytest.approx((0.1, 0.1, 0.1))


def test_turns_take_launches_enough() -> None:
    warm = target("launch.fork", "temperature=warm")
    short = fork_trace(blocks=(launches_block([0, 1000], [100, 100], wall_ns=200_000),))
    turns = plan_alternation(warm, short)
    assert turns is not None
    assert turns.target.limits.blocks == 1
    assert turns.target.limits.samples * 100_000 > turns.target.limits.block_limit_ns
    # 24 launches of 900 us do not fit into the shortest window.
    slow = plan_alternation(warm, fork_trace(blocks=(launches_block([0, 1000], [100, 100], wall_ns=1_800_000),)))
    assert slow is not None
    assert slow.window_ns == 24 * 900_000 > turns.window_ns
    assert plan_alternation(warm, fork_trace(blocks=(launches_block([0, 1000], [100, 100], wall_ns=10**8),))) is None
    assert plan_alternation(warm, replace(short, how="own")) is None


def six_windows() -> FakeTrace:
    """240 launches of 100 ns, every other 40 of them listened to."""
    start = 500
    windows = [(1000 * 40 * k + start, 1000 * 40 * (k + 1) + start, k % 2 == 0) for k in range(6)]
    block = launches_block([1000 * k for k in range(240)], [100] * 240, wall_ns=240_000)
    return replace(fork_trace(launches=240, windows=windows), blocks=(block,))


def test_the_budget_is_of_launches_that_were_listened_to() -> None:
    trace = six_windows()
    tracer = FakeTracer({"fast": trace, "fast in turns": trace})
    explanation = explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=3))
    assert tracer.asked == ["fast", "fast", *["fast in turns"] * 3]
    assert "none" not in tracer.asked
    assert explanation.launches == LaunchCounts(traced=3 * 3 * 36, untraced=3 * 3 * 36, processes=3)
    assert explanation.overhead.value == pytest.approx(0.0)


def test_where_turns_take_long_processes_are_compared() -> None:
    trace = fork_trace(launches=160, windows=[(1000, 100_000, True)])
    trace = replace(trace, blocks=(launches_block([1000 * k for k in range(160)], [100] * 160, wall_ns=160_000),))
    tracer = FakeTracer({"fast": trace, "fast in turns": trace, "none": fork_trace("none", launches=160)})
    explanation = explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=2))
    assert tracer.asked.count("fast in turns") == 3
    assert tracer.asked.count("none") == 2
    assert explanation.overhead.value == pytest.approx(0.0)


@dataclass
class StallingTracer(FakeTracer):
    """Of its processes in turns each but every second one sees a single turn."""

    stalled: Any = None

    def trace(self, *args: Any, **options: Any) -> Any:
        trace = super().trace(*args, **options)
        in_turns = self.asked.count("fast in turns") if options.get("window_ns") is not None else 0
        return self.stalled if in_turns % 2 else trace


def test_a_process_in_which_a_turn_took_all_the_time_is_started_again() -> None:
    trace = six_windows()
    tracer = StallingTracer({"fast": trace, "fast in turns": trace}, stalled=replace(trace, windows=trace.windows[:2]))
    explanation = explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=3))
    assert tracer.asked == ["fast", "fast", *["fast in turns"] * 6]
    assert explanation.launches == LaunchCounts(traced=3 * 3 * 36, untraced=3 * 3 * 36, processes=3)
