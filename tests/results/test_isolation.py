from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding


@pytest.fixture
def found(builder: Any) -> dict[str, Finding]:
    """A crash takes all threads; data that are overwritten damage a thread, and no process notices."""
    whole = {"survivors": 3, "damaged": 0, "parent_alive": 1, "ended_by_signal": 11}
    times = {"known_ns": 60_000, "replaced_ns": 130_000, "restored_ns": 130_000}
    slow = {"known_ns": 120_000, "replaced_ns": 320_000, "restored_ns": 390_000}
    exact: dict[str, Any] = {"spread": 0.0}
    builder.cell("isolate.worker", {**whole, **slow, "survivors": 0, "parent_alive": 0}, None, **exact)
    builder.cell("isolate.worker", {**whole, **times}, None, task_kind="process", **exact)
    builder.cell("isolate.pool", {**whole, **times, "replaced_ns": 65_000}, None, **exact)
    silent = {"survivors": 3, "parent_alive": 1}
    fault = {"fault": "overrun_neighbour", **exact}
    builder.cell("isolate.worker", {**silent, **slow, "damaged": 1}, None, **fault)
    builder.cell("isolate.worker", {**silent, "damaged": 0}, None, task_kind="process", **fault)
    return {finding.id: finding for finding in summarize(builder.run).findings}


def test_who_lives_on_is_said_of_threads_processes_and_pools(found: dict[str, Finding]) -> None:
    sentence = found["isolation.segfault"].sentence
    assert sentence.startswith(
        "A worker that segfaults: as a thread, none of 3 siblings survives, nor does the parent (SIGSEGV), "
    )
    assert "as a process, 3 of 3 siblings survive (SIGSEGV), known after 60" in sentence
    assert "in a pool, 3 of 3 siblings survive (SIGSEGV)" in sentence
    setups = found["isolation.segfault"].numbers["setups"]
    assert {name: setup["survivors"] for name, setup in setups.items()} == {"thread": 0, "process": 3, "pool": 3}
    assert setups["pool"]["replaced_ns"] == 65_000
    assert found["isolation.segfault"].numbers["restored_thread_over_process"]["ratio"] == pytest.approx(3)


def test_what_nobody_notices_is_said(found: dict[str, Finding]) -> None:
    finding = found["isolation.overrun_neighbour"]
    assert "as a thread, no task dies, but 1 of 3 siblings continues with corrupted data, " in finding.sentence
    assert finding.sentence.endswith("as a process, 3 of 3 siblings survive, and nobody notices.")
    assert "known_ns" not in finding.numbers["setups"]["process"]


def test_faults_are_told_once(found: dict[str, Finding]) -> None:
    assert [name for name in found if "isola" in name] == ["isolation.segfault", "isolation.overrun_neighbour"]
