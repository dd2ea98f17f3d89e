"""Counters: the arithmetic with made readings, and who gets what of a made launch."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.catalogue import CATALOGUE, DESCRIPTIONS
from tests.fakes.fake_trace import FORK, PARENT, FakeTracer, events_array, fork_trace
from tests.tracing.test_anatomy import explained, target

from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Catalogue, Limits, Target
from clonometer.records import to_json
from clonometer.tracing.anatomy import TraceOptions, explain
from clonometer.tracing.counters import counters_of, course
from clonometer.tracing.from_json import read_explanation
from clonometer.tracing.steps import count_steps
from clonometer.tracing.types import BudgetPart, Counters, IntervalEstimate, ProgramSteps, StepsPhase
from clonometer.views.explain_texts import steps_sentences

NAMES = ("cycles", "instructions", "cache_misses", "branch_misses", "tlb_misses")
WRAP = 1 << 64


def signed(value: int) -> int:
    """A 64-bit counter's value as the events carry it."""
    value %= WRAP
    return value - WRAP if value >> 63 else value


def counted_trace(share: float = 1.0, start: int = 0) -> Any:
    """The made fork, in which each ns is 3 cycles and 6 instructions, counted for a share of the time."""
    events = []
    for launch in range(3):
        for when, task, kind, values in [(-1, PARENT, "call_exit", (-1, 0)), *FORK, (101, PARENT, "call_enter", (1,))]:
            at = 2000 + 1000 * launch + when
            events.append((at, task, kind, values))
            cycles = start + int(3 * at * share)
            read = (at, int(at * share), signed(cycles), signed(2 * cycles), 0, 0, 0)
            events.append((at, 0, "counts", read))
    trace = fork_trace("tracepoints", events=events_array(events), counters=NAMES)
    for block in trace.blocks:
        block.facts["start_ticks"] = 2000
    return trace


def by_key(counters: Counters) -> dict[tuple[str, str], tuple[float, ...]]:
    return {(row.kind, row.id): tuple(row.values.values()) for row in counters.rows}


def test_every_part_gets_what_its_time_took_and_all_is_their_sum() -> None:
    counters = counters_of("hardware", [counted_trace()])
    rows = by_key(counters)
    assert counters.names == NAMES
    assert rows["part", "launch_call"][:2] == (60, 120)
    assert rows["part", "child_exit"][0] == pytest.approx(3 * 33)
    # Before the first event of a launch the reading grows evenly from the one before it.
    assert rows["part", "parent_user"][0] == pytest.approx(3 * 15)
    parts = sum(values[0] for (kind, _), values in rows.items() if kind == "part")
    assert rows["all", "all"][0] == pytest.approx(parts) == pytest.approx(300)
    assert rows["mode", "user"][0] + rows["mode", "kernel"][0] == pytest.approx(300)
    assert rows["stage", "call_returns"][0] == pytest.approx(3 * 26)
    assert rows["stage", "task_runs"][0] == pytest.approx(3 * 52)
    assert rows["stage", "reaped"][0] == pytest.approx(300)
    assert all(row.ipc == pytest.approx(2) for row in counters.rows)


def test_counts_are_scaled_up_by_the_time_that_was_not_counted() -> None:
    counters = counters_of("hardware", [counted_trace(share=0.5)])
    assert counters.running == pytest.approx(0.5, abs=0.01)
    assert by_key(counters)["all", "all"][0] == pytest.approx(300, rel=0.1)


@pytest.mark.parametrize("start", [WRAP - 2500 * 3, (1 << 63) - 2500 * 3])
def test_a_counter_may_go_over_its_end(start: int) -> None:
    assert by_key(counters_of("hardware", [counted_trace(start=start)]))["all", "all"][0] == pytest.approx(300)


def test_readings_while_nothing_counted_add_nothing_and_are_known() -> None:
    counted = course(np.array([0, 10, 20]), np.array([[0, 0, 5], [10, 0, 5], [20, 10, 15]]))
    assert counted.total[:, 0].tolist() == [0, 0, 10]
    assert (counted.enabled_ns, counted.running_ns) == (20, 10)
    assert counted.between(15, 20).tolist() == [5]
    assert counted.between(-10, 0).tolist() == [0]


def with_hardware(**traces: Any) -> Any:
    everything = {"fast": fork_trace(), "none": fork_trace("none"), **traces}
    return explain(
        FakeTracer(everything),
        target("launch.fork", "temperature=warm"),
        TraceOptions(processes=2, counters="hardware"),
    )


def test_an_explanation_has_them_or_says_why_not() -> None:
    explanation = with_hardware(**{"tracepoints with hardware counters": counted_trace()})
    assert explanation.counters.launches > 0
    assert explanation.counters.reason is None
    assert with_hardware().counters.reason == "no tracepoints with hardware counters here"
    assert with_hardware().counters.rows == ()


def own_trace() -> Any:
    """Launches of 100 ns: a fault before the call returns (at 26), one after, and a sleep from 30 to 80."""
    story = [(10, "minor_fault"), (28, "major_fault"), (30, "switched_out"), (80, "switched_in"), (90, "minor_fault")]
    rows = [(1000 * n + at, PARENT, kind, (0,)) for n in range(1, 4) for at, kind in story]
    return fork_trace("own", events=events_array(rows))


def test_an_ordinary_users_own_faults_and_switches_are_counted_where_no_more_may_be() -> None:
    tracer = FakeTracer({"own": own_trace(), "none": fork_trace("none"), "ptrace": fork_trace("ptrace")})
    explanation = explain(
        tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=2, tier="own", counters="software")
    )
    assert explanation.counters is not None
    rows = by_key(explanation.counters)
    assert explanation.counters.names == ("page_faults", "context_switches", "major_faults")
    assert rows["all", "all"] == (3, 1, 1)
    assert rows["part", "until_returned"] == (1, 0, 0)
    assert rows["part", "reaping"] == (1, 0, 0)
    assert sum(values[0] for (kind, _), values in rows.items() if kind == "part") == 3
    assert set(explanation.counters.missing) == {"cpu_clock_ns", "cpu_migrations"}


@pytest.mark.parametrize(("tier", "wanted"), [("own", "hardware"), ("stamps", "hardware"), ("stamps", "software")])
def test_counters_look_no_closer_than_the_tier_and_say_why(tier: str, wanted: str) -> None:
    traces = {"own": own_trace(), "none": fork_trace("none"), "ptrace": fork_trace("ptrace")}
    tracer = FakeTracer({**traces, f"tracepoints with {wanted} counters": counted_trace()})
    explanation = explain(
        tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=2, tier=tier, counters=wanted)
    )
    assert explanation.counters is not None
    assert explanation.counters.rows == ()
    assert explanation.counters.reason is not None
    assert "tracepoints" in explanation.counters.reason or "events" in explanation.counters.reason
    assert not any(asked.startswith("tracepoints") for asked in tracer.asked)


def test_counters_that_never_counted_are_no_zeros() -> None:
    trace = counted_trace()
    counts = trace.events["kind"] == trace.kinds.index("counts")
    values = trace.events["values"].copy()
    values[counts, 1:] = 0
    trace.events["values"] = values
    counters = counters_of("hardware", [trace])
    assert counters.rows == ()
    assert "they never counted" in str(counters.reason)


NULL = -(2**63)
COUNTED = {
    "instructions": 31_402,
    "cpuid": 68,
    "ended": 1,
    "main_from_entry": -192,
    "loader_instructions": 0,
    "loader_cpuid": 0,
    "start_instructions": 30_004,
    "start_cpuid": 68,
    "main_instructions": NULL,
    "main_cpuid": NULL,
    "exit_instructions": NULL,
    "exit_cpuid": NULL,
    "errno": 0,
}


def without_cpuid(reason: str) -> Catalogue:
    """The drivers, on a machine that cannot count."""
    described = copy.deepcopy(DESCRIPTIONS)
    for entry in (entry for driver in described for entry in driver["workloads"]):
        if entry["id"] in {"program.steps", "program.cpuid"}:
            entry |= {"available": False, "reason": reason}
    return read_catalogue(described)


class Tracer:
    """Gives one row of counts, and three of costs."""

    def __init__(self, **changed: int) -> None:
        self.asked: list[Target] = []
        self.counted = {**COUNTED, **changed}

    def trace(self, target: Target, how: str) -> Any:
        self.asked.append(target)
        assert how == "none"
        counts = {name: np.array([value]) for name, value in self.counted.items()}
        costs = {"cpuid_ns": np.array([5_300.0, 5_000.0, 5_100.0])}
        columns = counts if target.workload == "program.steps" else costs
        return SimpleNamespace(blocks=[SimpleNamespace(columns=columns)])


def launch() -> Target:
    return Target("launch.posix_spawn", {"program": "/opt/a:b"}, (), Limits())


def test_the_program_that_is_launched_is_counted_once_and_cpuid_is_timed() -> None:
    tracer = Tracer()
    counted = count_steps(tracer, launch(), CATALOGUE)  # type: ignore[arg-type]
    assert counted == ProgramSteps(
        31_402,
        68,
        ended=True,
        phases=(StepsPhase("child_loader", 0, 0), StepsPhase("child_library_start", 30_004, 68)),
        cpuid_ns=5_100.0,
        cpuid_least_ns=5_000.0,
        main_from_entry=-192,
    )
    steps = tracer.asked[0]
    assert (steps.condition["program"], steps.limits.samples, steps.limits.blocks) == ("/opt/a:b", 1, 1)


def test_what_cannot_be_counted_has_its_reason() -> None:
    refused = count_steps(Tracer(errno=1), launch(), CATALOGUE)  # type: ignore[arg-type]
    absent = count_steps(Tracer(), launch(), without_cpuid("no CPUID here"))  # type: ignore[arg-type]
    assert refused is not None
    assert "ptrace" in str(refused.reason)
    assert absent == ProgramSteps(reason="no CPUID here")


def _sentences(steps: ProgramSteps, **means_ns: float) -> list[str]:
    budget = tuple(BudgetPart(part, IntervalEstimate(mean, mean, mean), 0.5) for part, mean in means_ns.items())
    return steps_sentences(replace(explained(), budget=budget, steps=steps))


STEPS = ProgramSteps(31_402, 68, True, (StepsPhase("child_library_start", 30_004, 68),), 8_400.0, 8_100.0)


def test_the_part_that_executes_them_is_named_with_what_they_take_of_it() -> None:
    assert _sentences(STEPS, child_library_start=610_000.0) == [
        "CPUID traps to the hypervisor here: 8.40 µs each (at least 8.10 µs); the program executes 68 (counted by "
        "single-stepping through all 31,402 instructions of one start)",
        "library's start: 610 µs, of which 68 CPUID x 8.40 µs = 571 µs (94%)",
    ]


@pytest.mark.parametrize(
    ("steps", "means_ns", "words"),
    [
        (replace(STEPS, cpuid_ns=60.0), {"child_library_start": 50_000.0}, "does not trap here"),
        (STEPS, {"child_program": 700_000.0}, "all of its user code: 700 µs, of which 68 CPUID"),
        (STEPS, {"child_library_start": 500_000.0}, "(nearly all)"),
        (STEPS, {}, "library's start: 68 CPUID x 8.40 µs = 571 µs"),
        (replace(STEPS, ended=False), {}, "through the first 31,402 instructions"),
        (replace(STEPS, cpuid=0, phases=()), {}, "executes no CPUID"),
        (ProgramSteps(reason="yama"), {}, "could not be counted: yama"),
    ],
)
def test_every_case_has_its_words(steps: ProgramSteps, means_ns: dict[str, float], words: str) -> None:
    assert words in " ".join(_sentences(steps, **means_ns))


def test_it_is_written_and_read_back() -> None:
    explanation = replace(explained(), steps=STEPS)
    assert read_explanation(json.dumps(to_json(explanation))) == explanation
