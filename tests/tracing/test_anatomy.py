"""Processes of which no launch was traced completely: left out, counted and made up for, with an end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.fakes.fake_catalogue import catalogue as fake_catalogue
from tests.fakes.fake_trace import (
    CHILD,
    FORK,
    FORK_PARTS,
    PARENT,
    FakeTrace,
    FakeTracer,
    events_array,
    fork_trace,
    launches_block,
)
from tests.schemas import check

from clonometer.errors import UnavailableError, UsageError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Target
from clonometer.records import to_json
from clonometer.tracing.anatomy import TraceOptions, admit, explain
from clonometer.tracing.budget import central, set_beside
from clonometer.tracing.flags import flag_names
from clonometer.tracing.launches import launches_of
from clonometer.tracing.overhead import log_ratio, overhead_of, pairs_between, pairs_within, plan_alternation, spans_of
from clonometer.tracing.partition import traced_launches
from clonometer.tracing.stacks import fold
from clonometer.tracing.types import Explanation, LaunchCounts, NewTasks


def target(workload: str = "launch.fork", *settings: str) -> Target:
    plan = plan_from_arguments([workload], [*settings], read_catalogue([fake_catalogue()]))
    return plan.targets[0]


def explained(tier: str | None = None, **traces: Any) -> Explanation:
    everything = {"fast": fork_trace(), "none": fork_trace("none"), **traces}
    return explain(
        FakeTracer(everything), target("launch.fork", "temperature=warm"), TraceOptions(processes=3, tier=tier)
    )


def test_a_language_that_creates_no_task_is_said_so_and_not_called_disturbed() -> None:
    without = [event for event in FORK if event[2] != "new_task"]
    events = events_array([(1000 + when, task, kind, values) for when, task, kind, values in without])
    trace = FakeTrace("fast", events, [launches_block([0], [100])])
    of_language = TraceOptions(processes=3, by_runtime=True)
    with pytest.raises(UsageError, match=r"launch.fork creates no task of the kernel"):
        explain(FakeTracer({"fast": trace}), target("launch.fork", "temperature=warm"), of_language)


def test_languages_are_traced_all_the_time_or_by_stamps() -> None:
    """Who does not listen while threads are made does not know them; nor do events of the first thread alone."""
    block = launches_block([0, 1000, 2000], [100] * 3, wall_ns=300)
    short = {how: fork_trace(how, blocks=(block,)) for how in ("fast", "own", "none")}
    tracer = FakeTracer(short)
    of_language = TraceOptions(processes=3, by_runtime=True)
    explain(tracer, target("launch.fork", "temperature=warm"), of_language)
    assert "fast in turns" not in tracer.asked
    del short["fast"]
    assert explain(tracer, target("launch.fork", "temperature=warm"), of_language).tier.name == "stamps"


def test_the_budget_sums_to_the_whole() -> None:
    explanation = explained()
    assert {share.part: share.mean_ns.value for share in explanation.budget} == FORK_PARTS
    assert (
        sum(share.mean_ns.value for share in explanation.budget) + explanation.unexplained_ns.value
        == explanation.reaped_ns.value
        == 100
    )
    assert sum(share.share for share in explanation.budget) + explanation.unexplained == pytest.approx(1)
    assert explanation.launches == LaunchCounts(traced=9, untraced=9, processes=3)


def test_overhead_is_traced_against_untraced() -> None:
    slow = fork_trace("none", blocks=(launches_block([0, 1000, 2000], [80, 80, 80]),))
    explanation = explained(none=slow)
    assert explanation.overhead.value == pytest.approx(0.25)
    assert any("longer" in note for note in explanation.notes)


def test_the_band_leaves_disturbed_launches_out() -> None:
    block = launches_block([1000 * number for number in range(8)], [100] * 7 + [900])
    launches = list(traced_launches(fork_trace("none", blocks=(block,))))
    assert len(central(launches)) == 4
    assert all(kept.launch.reaped_ns == 100 for kept in central(launches))
    assert len(central(launches[-1:])) == 1


def test_launches_that_were_not_seen_whole_are_left_out_and_said_to_be() -> None:
    # Launches begin at 1000, 2000 and 3000 and last 100 each.
    assert len(list(traced_launches(fork_trace(whole=(1001, None))))) == 2
    assert len(list(traced_launches(fork_trace(whole=(1000, 3099))))) == 2
    assert len(list(traced_launches(fork_trace(whole=(1000, 3100))))) == 3
    rows = [(2060, PARENT, "faults_left_out", (0,)), (3900, PARENT, "faults_left_out", (0,))]
    events = np.sort(np.concatenate([fork_trace().events, events_array(rows)]), order="time_ns")
    assert [launch.launch.start_ns for launch in traced_launches(fork_trace(events=events))] == [
        1000,
        3000,
    ]
    # A launch whose task nobody saw being made was not seen.
    elsewhere = fork_trace().events.copy()
    elsewhere["time_ns"][elsewhere["time_ns"] < 2000] -= 500
    assert [launch.launch.start_ns for launch in traced_launches(fork_trace(events=elsewhere))] == [
        2000,
        3000,
    ]
    explanation = explained(fast=fork_trace(whole=(1001, None), lost=7))
    assert explanation.launches.traced == 6
    assert explanation.reaped_ns.value == 100
    notes = " ".join(explanation.notes)
    assert "lost even with more room: launches of that time are left out" in notes
    assert "3 traced launches were not traced completely" in notes


def test_calls_flags_and_timelines() -> None:
    explanation = explained()
    calls = {(call.who, call.name): (call.count, call.each_ns) for call in explanation.calls}
    # exit_group does not return: it lasts until its task has left the CPU for ever.
    assert calls == {("parent", "clone"): (1, 20), ("parent", "wait4"): (1, 62), ("child", "exit_group"): (1, 33)}
    assert not explanation.calls_inflated
    assert explanation.new_tasks == (NewTasks(("CLONE_CHILD_CLEARTID", "CLONE_CHILD_SETTID"), 1.0),)
    assert [timeline.which for timeline in explanation.timelines] == ["median", "p99"]
    words = [moment.words for moment in explanation.timelines[0].moments]
    assert "makes child: CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID" in words
    assert "page fault: copy on write, stack" in words
    assert "parent leaves the CPU (asleep); child gets the CPU" in words
    assert words[0] == "before the call (stamp)"
    assert words[-1] == "reaped (stamp)"
    assert [moment.time_ns for moment in explanation.timelines[0].moments] == sorted(
        moment.time_ns for moment in explanation.timelines[0].moments
    )


def test_the_best_tier_that_is_allowed_is_used_and_the_others_are_said() -> None:
    tracer = FakeTracer({"own": fork_trace("own"), "none": fork_trace("none")})
    explanation = explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=1))
    assert tracer.asked[:3] == ["fast", "tracepoints", "own"]
    assert explanation.tier.name == "own"
    assert list(explanation.tier.refused.values()) == ["no fast here", "no tracepoints here"]
    assert explanation.tier.cannot_see
    assert any("no ptrace here" in note for note in explanation.notes)


def test_by_stamps_only_calls_come_from_ptrace_and_are_said_to_be_inflated() -> None:
    explanation = explained("stamps", ptrace=replace(fork_trace("fast"), how="ptrace"))
    assert explanation.tier.name == "stamps"
    assert {share.part for share in explanation.budget} == {"until_returned", "until_task_ran", "until_reaped"}
    assert explanation.calls_inflated
    assert any("too long" in note for note in explanation.notes)
    assert explanation.new_tasks


def test_a_launch_with_too_many_events_for_its_length_is_listened_to_less() -> None:
    tracer = FakeTracer({"fast": fork_trace(), "none": fork_trace("none")})
    explanation = explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=2))
    # 16 events in 100 ns: all of the budget's launches are asked for the main calls only.
    assert [events for how, events in tracer.events if how == "fast"] == [
        ("tasks", "sched", "calls", "faults"),
        *[("tasks", "sched", "main", "faults")] * 2,
    ]
    assert any("short system calls count as user code" in note for note in explanation.notes)
    assert explanation.calls
    assert explanation.launches.traced == 6


def test_a_long_launch_is_listened_to_in_full() -> None:
    block = launches_block([0], [100_000])
    tracer = FakeTracer({"fast": fork_trace(blocks=(block,)), "none": fork_trace("none", blocks=(block,))})
    explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=2))
    assert {events for how, events in tracer.events if how == "fast"} == {("tasks", "sched", "calls", "faults")}


def test_lost_events_are_said() -> None:
    explanation = explained(fast=fork_trace(lost=4))
    assert explanation.lost == 4
    assert any("4 events were lost" in note for note in explanation.notes)


@pytest.mark.parametrize(
    ("workload", "condition", "words"),
    [
        ("clock.used", {}, "launches no task"),
        ("launch.pthread", {"detached": "yes"}, "nothing waits"),
        ("launch.fork", {"concurrency": 4}, "one at a time"),
    ],
)
def test_what_has_no_anatomy_is_refused(workload: str, condition: dict[str, str | int], words: str) -> None:
    refused = target(workload)
    with pytest.raises(UsageError, match=words):
        admit(replace(refused, condition={**refused.condition, **condition}), read_catalogue([fake_catalogue()]))


def test_a_mechanism_of_which_no_launch_succeeded() -> None:
    nothing = fork_trace(blocks=(launches_block([], []),))
    with pytest.raises(UnavailableError, match="no launch"):
        explained(fast=nothing, none=nothing)


def test_two_side_by_side_say_what_makes_the_ratio() -> None:
    first = explained()
    begin = [(1000 + at, task, kind, values) for at, task, kind, values in FORK if at < 25]
    short = fork_trace("fast", events=events_array(begin), blocks=(launches_block([0], [25]),))
    versus = set_beside(first, explained(fast=short))
    assert versus.against.ratio == 4
    assert versus.against.difference_ns == 75
    assert sum(reason.difference_ns for reason in versus.against.reasons) == pytest.approx(75)
    assert sum(reason.share for reason in versus.against.reasons) == pytest.approx(1)
    assert [abs(reason.difference_ns) for reason in versus.against.reasons] == sorted(
        (abs(reason.difference_ns) for reason in versus.against.reasons), reverse=True
    )
    document = to_json(versus)
    assert document["versus"]["ratio"] == 4
    check(document, "explain")


def test_json_has_the_three_keys() -> None:
    document = to_json(explained())
    check(document, "explain")
    assert document["unexplained"] == 0
    assert document["overhead"] == pytest.approx(0)
    assert sum(part["mean_ns"] for part in document["budget"]) + document["unexplained_ns"] == document["reaped_ns"]


def test_stacks_are_folded_and_only_of_launches() -> None:
    words = [2**64 - 128, 0x20, 0x10, 2**64 - 512, 0x5, 2**64 - 512, 0x6]
    trace = FakeTrace(
        "tracepoints",
        events_array(
            [
                (1010, PARENT, "sample", (0, 5)),
                (1020, CHILD, "sample", (5, 2)),
                (1500, PARENT, "sample", (0, 5)),  # between launches
                (2010, PARENT, "sample", (0, 5)),
            ]
        ),
        (launches_block([0, 1000], [100, 100]),),
        stacks=np.array(words, np.uint64),
    )
    assert fold(trace, lambda address: f"f{address:x}") == {"parent;f10;f20": 2, "child;[user code]": 1}


def test_flags_have_names() -> None:
    assert flag_names(0x100) == ("CLONE_VM",)
    assert flag_names(1 << 60) == ("CLONE_BIT_60",)


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


class DisturbedTracer(FakeTracer):
    """Hands out a disturbed trace the first times that ``how`` is asked for when the budget was spent's events."""

    def __init__(self, traces: dict[str, Any], how: str, disturbed: Any, *, times: int) -> None:
        super().__init__(traces)
        self.how, self.disturbed, self.left = how, disturbed, times

    def trace(self, *args: Any, **options: Any) -> Any:
        trace = super().trace(*args, **options)
        if self.asked[-1] != self.how or self.events[-1][1] == ("tasks", "sched", "calls", "faults") or not self.left:
            return trace
        self.left -= 1
        return self.disturbed


@pytest.mark.parametrize("turns", [False, True], ids=["processes, alternately", "turns within them"])
def test_a_process_of_which_nothing_was_seen_whole_is_left_out_counted_and_made_up_for(turns: bool) -> None:
    good, how = (six_windows(), "fast in turns") if turns else (fork_trace(), "fast")
    disturbed = replace(good, whole=(10**15, None), lost=7)
    traces: dict[str, Any] = {"fast": good, "none": fork_trace("none"), how: good}
    asked = target("launch.fork", "temperature=warm")
    # The first listens closely, the second and all others are the budget's: of these the first is disturbed.
    tracer = DisturbedTracer(traces, how, disturbed, times=1)
    explanation = explain(tracer, asked, TraceOptions(processes=3))
    undisturbed = explain(FakeTracer(traces), asked, TraceOptions(processes=3))
    assert (explanation.launches, explanation.lost) == (undisturbed.launches, 0)
    assert explanation.budget == undisturbed.budget
    [note] = [note for note in explanation.notes if "left out" in note]
    assert note.startswith("1 of 4 processes was left out")
    assert not [note for note in undisturbed.notes if "left out" in note]
    # As many as were asked for may be started in vain, and not one more.
    few = explain(DisturbedTracer(traces, how, disturbed, times=3), asked, TraceOptions(processes=3))
    assert few.launches.processes == 3
    hopeless = DisturbedTracer(traces, how, disturbed, times=100)
    with pytest.raises(UnavailableError, match=r"in 4 of 4 processes every launch of launch\.fork was disturbed"):
        explain(hopeless, asked, TraceOptions(processes=3))
