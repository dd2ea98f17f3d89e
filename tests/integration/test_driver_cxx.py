"""The C++ driver beyond what every driver must do: the library's failures, its clocks, its linkage."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import probe
from tests.integration.started import ROOT_ONLY, as_nobody, sleepers
from tests.probe import present

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not (probe.folder() / "driver-cxx").exists(), reason="no C++ compiler built it"),
]

DRIVER = probe.folder() / "driver-cxx"
THREADS = ["launch.std_thread", "launch.std_jthread", "launch.std_async"]
CLOCKS = ["clock.chrono_system", "clock.chrono_steady", "clock.chrono_high_resolution"]


def ask(*words: str, **how: object) -> probe.Answer:
    return probe.ask(*words, **{"program": DRIVER, "linkage": None, **how})


def test_it_has_the_threads_and_clocks_of_the_standard_library() -> None:
    described = json.loads(subprocess.check_output([DRIVER, "--describe"]))
    assert sorted(entry["id"] for entry in described["workloads"]) == sorted(THREADS + CLOCKS)
    assert {entry["family"] for entry in described["workloads"]} == {"same_image", "clock"}
    headers = subprocess.check_output(["readelf", "-l", DRIVER], text=True)
    assert ("INTERP" not in headers) == (described["driver"]["linkage"] == "static")


@ROOT_ONLY
@pytest.mark.parametrize("workload", THREADS)
def test_a_thread_that_is_not_allowed_is_counted_and_survived(workload: str, public: Path) -> None:
    program = public / "driver-cxx"
    shutil.copy(DRIVER, program)

    # One task of that user is the driver; a sleeper uses up the other.
    with sleepers(1):
        words = (f"workload={workload}", "samples=3", "blocks=1")
        answer = ask(*words, program=program, before=as_nobody(2))
    assert answer.done.status == "ok"
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 0, "EAGAIN": 3}
    for stage in ("call_returns_ns", "task_runs_ns", "reaped_ns"):
        assert len(present(block, stage)) == 0
    assert len(present(block, "start_ns")) == 3


@pytest.mark.parametrize("workload", THREADS)
def test_a_free_thread_runs_on_a_cpu_that_is_allowed(workload: str) -> None:
    (block,) = ask(f"workload={workload}", "placement=free", "samples=20", "blocks=1").blocks
    for column in ("cpu_before", "cpu_after", "cpu_child"):
        assert set(present(block, column)) <= os.sched_getaffinity(0)


def test_its_clocks_have_the_columns_of_the_probes_clocks() -> None:
    """One run may have both: a column has one type in all of a file."""
    (ours,) = ask("workload=clock.chrono_steady", "samples=2", "blocks=1").blocks
    (probes,) = probe.ask("workload=clock.realtime", "samples=2", "blocks=1").blocks
    types = [{name: column.dtype for name, column in block.columns.items()} for block in (ours, probes)]
    assert {name: types[0].get(name) for name in types[1]} == types[1]


def test_the_steady_clock_never_goes_back() -> None:
    (block,) = ask("workload=clock.chrono_steady", "samples=20", "blocks=1").blocks
    assert not block.columns["backward_steps"].any()


def test_words_of_any_bytes_are_refused_in_good_json() -> None:
    answer = ask('workload=la"unch\\\x01\udcff')
    assert (answer.done.status, answer.exit_status) == ("failed", 1)
    assert "unknown workload" in answer.done.reason
