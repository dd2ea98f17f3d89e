"""The command calibrate, with real forks: a calibration is kept, and a reference scan finds the machine near itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clonometer.cli.calibrating import measure_scale, usable_calibration
from clonometer.model.features import Features
from clonometer.model.predictor import predict
from clonometer.runner.mixtures import fork_mixture

pytestmark = pytest.mark.real


def test_a_calibration_is_kept_and_is_of_this_machine(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "clonometer.cli.start", "calibrate", "--quick", "--budget", "1s", "--json"],
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    path = tmp_path / "clonometer" / "calibration.json"
    made = usable_calibration(path)
    assert made is not None
    assert json.loads(answer.stdout) == json.loads(path.read_text())
    # What must hold wherever forks are real: more to copy costs more, cold or hot, and huge pages are cheaper.
    small, large = (Features(anon_areas=10, anon_pages=pages, anon_tables=pages // 512) for pages in (1000, 200_000))
    huge = Features(anon_areas=10, anon_pages=100, anon_tables=10, huge_pages=390)
    costs = [predict(features, made).fork.first.median_ns for features in (small, large, huge)]
    assert costs[0] < costs[1]
    assert costs[2] < costs[1] / 3
    assert measure_scale(made).factor == pytest.approx(1, abs=0.9)


def test_a_process_made_for_a_validation_has_what_was_asked_for() -> None:
    def areas(pid: int) -> tuple[int, int, int]:
        text = Path(f"/proc/{pid}/smaps").read_text()
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
        return text.count(" dc"), len(os.listdir(f"/proc/{pid}/task")), descriptors

    seen, times = fork_mixture(
        {"dontfork_areas": 30, "threads": 3, "open_files": 40, "dense_pages": 100, "forks": 2, "idle_ms": 1}, areas
    )
    assert seen[:2] == (30, 4)
    assert seen[2] >= 43
    assert {state: len(calls) for state, calls in times.items()} == dict.fromkeys(
        ("first", "later", "first_hot", "later_hot"), 2
    )
    assert min(min(calls) for calls in times.values()) > 0
