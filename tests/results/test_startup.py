"""What a finding says of the start of a program's C library."""

from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import SPAWN, program_start

from clonometer.results.summary import summarize
from clonometer.results.types import Finding


def _finding(run: Any) -> Finding | None:
    return next((finding for finding in summarize(run).findings if finding.id == "program_start"), None)


def test_the_start_is_split_and_its_cause_named_from_what_the_run_has_measured() -> None:
    finding = _finding(program_start())
    assert finding is not None
    assert finding.numbers["library_start_ns"] == pytest.approx(350_000, rel=0.01)
    assert finding.numbers["library_start_low_ns"] < finding.numbers["library_start_high_ns"]
    assert (finding.numbers["cpuid"], len(finding.numbers["cells"])) == (68, 4)
    assert finding.numbers["cpuid_share"] == pytest.approx(68 * 5_000 / 350_000, rel=0.01)
    assert finding.numbers["without_library_ns"] == pytest.approx(79_000, rel=0.01)


def test_a_cpuid_that_does_not_trap_is_not_blamed(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {**SPAWN, "image_runs_ns": 190_000}, "warm")
    builder.cell("program.steps", {"start_cpuid": 68}, None, processes=1, samples=1, blocks=1, spread=0.0)
    builder.cell("program.cpuid", {"cpuid_ns": 60}, None, processes=4)
    finding = _finding(builder.run)
    assert finding is not None
    assert "which do not trap" in finding.sentence


def test_nothing_is_made_up_where_nothing_was_counted_or_stamped(builder: Any) -> None:
    builder.cell("launch.posix_spawn", SPAWN, "warm")
    finding = _finding(builder.run)
    assert finding is not None
    assert not {"cpuid", "without_library_ns"} & set(finding.numbers)


def test_a_run_without_the_entrys_stamp_tells_no_split(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {"image_runs_ns": 470_000, "reaped_ns": 500_000}, "warm")
    assert _finding(builder.run) is None


def test_a_launch_is_written_alike_in_the_answer_and_in_the_short_reason(builder: Any) -> None:
    # 537 µs whose interval supports two digits, and each sentence by itself would be right with three.
    values = {name: value * 1.07 for name, value in SPAWN.items()}
    builder.cell("launch.posix_spawn", values, "warm", spread=0.1)
    first = summarize(builder.run).first
    [answer] = [finding for finding in first.answer if finding.id == "answer.launch.posix_spawn"]
    [reason] = [finding for finding in first.reasons if finding.id == "why.program_start"]
    whole = answer.sentence.partition(" takes ")[2].partition(" µs")[0]
    assert len(whole.rstrip("0")) == 2
    assert f"'s {whole} µs, " in reason.headline
