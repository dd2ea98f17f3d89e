"""The kernel confirms the flags: what it received for each mechanism is what the catalogue says."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests import probe

pytestmark = pytest.mark.real

SAMPLES, TRIALS = 3, 5
LINKAGES = [name for name in ("static", "dynamic_lazy", "musl") if probe.executable(name).exists()]
METHODS = ["perf", "ptrace"]


@cache
def described(linkage: str) -> dict[str, dict[str, Any]]:
    catalogue = json.loads(subprocess.check_output([probe.executable(linkage), "--describe"]))
    return {entry["id"]: entry for entry in catalogue["workloads"] if entry["reaped_by"] and entry["available"]}


EXACT = [name for name, entry in described("static").items() if entry["clone_flags"] is not None]
LIBRARY = [name for name, entry in described("static").items() if entry["clone_flags"] is None]


def confirm(method: str, workload: str, linkage: str) -> list[dict[str, Any]]:
    """What the kernel received for the last launches, those that were samples."""
    for _ in range(TRIALS):
        report = report_of(method, workload, linkage)
        # The tracer hears of every task of the machine: where another test starts thousands it says that it lost some.
        if not report.get("lost"):
            break
    if report["status"] == "skipped":
        pytest.skip(report["reason"])
    assert (report["method"], report["exit_status"], report["lost"]) == (method, 0, 0)
    assert len(report["tasks"]) >= SAMPLES + 1
    assert len({task["tid"] for task in report["tasks"]}) == len(report["tasks"])
    return report["tasks"][-SAMPLES:]


def report_of(method: str, workload: str, linkage: str) -> dict[str, Any]:
    """What the tracer says of some launches."""
    reading, writing = os.pipe()
    words = [f"workload={workload}", f"samples={SAMPLES}", "blocks=1", "warmup=1", f"linkage={linkage}"]
    command = [probe.folder() / "tracer", "--fd", str(writing), "confirm", method, probe.executable(linkage)]
    with subprocess.Popen([*command, *words], pass_fds=[writing], stdout=subprocess.DEVNULL) as tracer:
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            report = json.loads(answer.read())
        assert tracer.wait(timeout=60) == 0
    return report


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("workload", EXACT)
def test_a_raw_mechanism_asks_for_these_flags_and_no_others(workload: str, method: str) -> None:
    entry = described("static")[workload]
    for task in confirm(method, workload, "static"):
        assert task["flags"] == entry["clone_flags"]
        assert task["names"] == entry["clone_flags_contain"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("workload", LIBRARY)
def test_a_library_asks_for_these_flags_at_least(workload: str, linkage: str, method: str) -> None:
    entry = described(linkage)[workload]
    for task in confirm(method, workload, linkage):
        assert set(entry["clone_flags_contain"]) <= set(task["names"])


def test_each_rung_has_one_flag_more_than_the_one_below() -> None:
    catalogue = {entry["id"]: entry for entry in probe.catalogue()["workloads"]}
    ladder = {name: entry for name, entry in catalogue.items() if name.startswith("flags.")}
    assert len(ladder) == 10
    for name, entry in ladder.items():
        below = ladder[entry["step_from"]]["clone_flags"] if entry["step_from"] else None
        more = int(entry["clone_flags"], 16) - (int(below, 16) if below else 0)
        assert more.bit_count() == (1 if below else 0), name
    pthread = catalogue["launch.pthread"]["clone_flags_contain"]
    assert ladder["flags.settls"]["clone_flags_contain"] == pthread


@pytest.mark.parametrize("words", [[], ["--fd", "1", "confirm", "magic", "x"], ["--fd", "99", "confirm", "perf", "x"]])
def test_a_tracer_that_is_called_wrongly_says_how(words: list[str]) -> None:
    ended = subprocess.run([probe.folder() / "tracer", *words], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "tracer" in ended.stderr


@pytest.mark.parametrize("method", METHODS)
def test_a_program_that_is_not_there_made_no_task(method: str) -> None:
    nothing = Path("/nowhere/probe")
    command = [probe.folder() / "tracer", "--fd", "1", "confirm", method, nothing, "x=y"]
    answer = json.loads(subprocess.check_output(command, timeout=60))
    assert answer["tasks"] == []
    assert answer["status"] == "skipped" or answer["exit_status"] == 127
