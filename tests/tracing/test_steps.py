"""Counting a program's steps for an explanation, and the sentences that come of it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.catalogue import CATALOGUE, DESCRIPTIONS
from tests.tracing.test_anatomy import explained

from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Catalogue, Limits, Target
from clonometer.records import to_json
from clonometer.tracing.from_json import read_explanation
from clonometer.tracing.steps import count_steps
from clonometer.tracing.types import BudgetPart, IntervalEstimate, ProgramSteps, StepsPhase
from clonometer.views.explain_texts import steps_sentences

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
