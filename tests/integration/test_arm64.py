"""The probe built for arm64 launches real tasks under an emulator: raw calls, stacks, the order of arguments."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import probe

PROBE = Path(__file__).parents[2] / "build/arm64/core/probe-static"
QEMU = shutil.which("qemu-aarch64")
# What needs neither exec (the emulator is not the program that would be started) nor clone3 (it has none).
WORKLOADS = [
    "launch.fork",
    "launch.bare_fork",
    "launch.vfork",
    "launch.clone",
    "launch.pthread",
    "launch.c11_thread",
    "launch.raw_thread",
    "clock.used",
    "wake.pipe",
    "wake.thread_futex",
    "memcpy.private",
    "teardown.exit",
    "teardown.kill",
    "teardown.zombies",
]

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not PROBE.exists(), reason=f"no {PROBE}: tools/arm64.sh builds it with a cross compiler"),
    pytest.mark.skipif(QEMU is None, reason="no qemu-aarch64"),
]


@pytest.fixture
def emulated(tmp_path: Path) -> Path:
    program = tmp_path / "probe-static"
    program.write_text(f'#!/bin/sh\nexec {QEMU} {PROBE} "$@"\n')
    program.chmod(0o755)
    return program


def described(program: Path) -> dict[str, Any]:
    return json.loads(subprocess.check_output([program, "--describe"], timeout=60))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_it_launches_and_reaps(emulated: Path, workload: str) -> None:
    answer = probe.ask(
        f"workload={workload}", "samples=4", "blocks=1", "warmup=1", clock=("clock=monotonic",), program=emulated
    )
    assert (answer.done.status, answer.exit_status, answer.stderr) == ("ok", 0, "")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": block.rows}
    if "task_runs_ns" in block.columns and workload.startswith("launch."):
        assert (block.columns["task_runs_ns"] > 0).all()
        assert (block.columns["task_runs_ns"] <= block.columns["reaped_ns"]).all()


def test_it_says_what_this_architecture_lacks(emulated: Path) -> None:
    description = described(emulated)
    assert "clock=tsc" in {lack["what"] for lack in description["lacks"]}
    reasons = {entry["id"]: entry["reason"] for entry in description["workloads"] if not entry["available"]}
    assert "no time-stamp counter" in reasons["clock.rdtsc"]
    calibrated = json.loads(subprocess.check_output([emulated, "--calibrate"], timeout=60))
    assert (calibrated["clock"], calibrated["clock_hz"]) == ("monotonic", 10**9)
