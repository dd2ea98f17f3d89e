"""A program that is not ours, started for real: it is seen to come from one part of its life to the next."""

from __future__ import annotations

import shutil

import pytest

from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.runner.drivers import find_drivers
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing.marks import marks_of
from clonometer.tracing.partition import traced_launches
from clonometer.tracing.steps import count_steps

pytestmark = pytest.mark.real
EVENTS = ("tasks", "sched", "main", "faults")


def test_any_program_is_seen_to_come_to_its_entry_its_main_and_its_end() -> None:
    drivers = find_drivers()
    program = shutil.which("true") or "/bin/true"
    catalogue = read_catalogue(drivers.descriptions)
    settings = [f"program={program}", "temperature=warm"]
    limits = {"samples": 20, "blocks": 1, "warmup": 2}
    target = plan_from_arguments(["launch.fork_exec"], settings, catalogue, limits=limits).targets[0]
    tracer = ProbeTracer(drivers, drivers.calibrate())
    tracer.marks, reason = marks_of(target, count_steps(tracer, target, catalogue))
    if not tracer.marks:
        pytest.skip(str(reason))
    trace = tracer.trace(target, "fast", EVENTS)
    if trace.refused is not None or trace.marks_refused is not None:
        pytest.skip(str(trace.refused or trace.marks_refused))
    launches = list(traced_launches(trace))
    assert launches
    for traced_launch in launches:
        marks = [event.values[0] for event in traced_launch.events if event.kind == "mark"]
        assert marks == [0, 1, 2]
        parts = traced_launch.totals()
        assert {"child_loader", "child_library_start", "child_main", "child_library_exit"} <= set(parts)
        assert "child_program" not in parts
    tracer.marks = {**tracer.marks, "mark_file": "/nowhere"}
    unmarked = tracer.trace(target, "fast", EVENTS)
    assert "No such file" in str(unmarked.marks_refused)
    assert tracer.marks_refused == unmarked.marks_refused
    assert any("child_program" in traced_launch.totals() for traced_launch in traced_launches(unmarked))
