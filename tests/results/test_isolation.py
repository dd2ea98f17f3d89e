from __future__ import annotations

import pytest
from tests.results.runs import isolation

from clonometer.results.summary import summarize
from clonometer.results.types import Finding


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(isolation()).findings}


def test_who_lives_on_is_said_of_threads_processes_and_pools(findings: dict[str, Finding]) -> None:
    numbers = findings["isolation.segfault"].numbers
    setups = numbers["setups"]
    assert {name: setup["survivors"] for name, setup in setups.items()} == {"thread": 0, "process": 3, "pool": 3}
    assert setups["pool"]["replaced_ns"] == 65_000
    assert (setups["thread"]["parent_alive"], setups["process"]["known_ns"]) == (0, 60_000)
    assert numbers["restored_thread_over_process"]["ratio"] == pytest.approx(3)


def test_what_nobody_notices_is_said(findings: dict[str, Finding]) -> None:
    setups = findings["isolation.overrun_neighbour"].numbers["setups"]
    assert {name: setup["damaged"] for name, setup in setups.items()} == {"thread": 1, "process": 0}
    assert "known_ns" not in setups["process"]


def test_faults_are_told_once(findings: dict[str, Finding]) -> None:
    assert [name for name in findings if "isola" in name] == ["isolation.segfault", "isolation.overrun_neighbour"]
