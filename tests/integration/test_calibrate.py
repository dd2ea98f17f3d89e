"""The command calibrate, with real forks: a calibration is kept, and a reference scan finds the machine near itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.started import happens

from clonometer.app.calibrating import measure_scales
from clonometer.app.live import features_of_process
from clonometer.app.predicting import usable_calibration
from clonometer.errors import DriverError
from clonometer.model.features import Features
from clonometer.model.predictor import predict
from clonometer.runner.made import MadeProcess

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
    # Whoever runs beside this slows one of the two measurements more than the other.
    assert 1 / 5 < measure_scales(made).cold.factor < 5


def test_a_process_made_for_it_has_what_was_asked_for() -> None:
    asked = {"dontfork_areas": 30, "threads": 3, "files": 40, "dense_pages": 2000, "scattered_pages": 2000}
    with MadeProcess(asked) as made:
        features = features_of_process(made.pid)
        forks = made.fork(written_percent=100, idle_ms=1, forks=3)
    assert (features.dontfork_areas, features.threads) == (30, 4)
    assert features.open_files >= 43
    assert 4000 <= features.anon_pages < 4200
    assert len(forks) == 3
    assert min(min(call, end) for call, end in forks) > 0
    if features.placed_pages:
        # Half of them were touched in random order; in memory that is in pieces the others lie apart too.
        assert 0.45 < features.scattered_pages / features.placed_pages <= 1
    assert not Path(f"/proc/{made.pid}").exists()


def test_a_parent_that_waits_for_exec_waits_for_the_copied_memory_to_be_freed() -> None:
    waits = {}
    for pages in (16, 65_536):
        with MadeProcess({"dense_pages": pages}) as made:
            for executes in (False, True):
                forks = made.fork(written_percent=0, idle_ms=0, forks=5, executes=executes)
                waits[pages, executes] = min(wait for _, wait in forks)
    # An exit frees as much; the execve itself takes the same with little memory as with 256 MiB.
    assert waits[65_536, True] > 0.5 * waits[65_536, False]
    assert waits[65_536, True] > 3 * waits[16, True]


def test_as_many_pages_are_written_to_as_asked() -> None:
    with MadeProcess({"dense_pages": 20_000}) as made:
        for percent in (0, 50, 100):
            made.fork(written_percent=0, idle_ms=0, forks=1)
            before = page_faults(made.pid)
            made.fork(written_percent=percent, idle_ms=0, forks=0)
            # The first write after a fork meets a fault, whether it copies or not.
            assert (page_faults(made.pid) - before) / 20_000 == pytest.approx(percent / 100, abs=0.02)


def page_faults(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[7])


def test_what_cannot_be_made_says_why() -> None:
    with pytest.raises(DriverError, match="not understood: mouse_traps=3"):
        MadeProcess({"mouse_traps": 3})


def test_it_ends_with_whoever_made_it() -> None:
    script = (
        "import os; from clonometer.runner.made import MadeProcess; print(MadeProcess({}).pid, flush=True); os._exit(0)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert happens(lambda: not Path(f"/proc/{int(answer.stdout)}").exists())
