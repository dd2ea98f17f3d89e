from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runner.conftest import FakeRun

from clonometer.errors import OutputError
from clonometer.plan.types import Plan, Target
from clonometer.protocol import RawWriter
from clonometer.runfile import open_run
from clonometer.runner.interfaces import Progress as Silent
from clonometer.runner.recover import recover
from clonometer.runner.run import RunOutcome


def statuses(outcome: RunOutcome) -> dict[str, set[str]]:
    by_workload: dict[str, set[str]] = {}
    for end in outcome.cells:
        by_workload.setdefault(end.cell.split("[")[0], set()).add(end.status)
    return by_workload


def test_a_run_is_complete_and_its_file_says_all(fake_run: FakeRun) -> None:
    outcome = fake_run(command=["clonometer", "run"], seed=42)
    assert (outcome.status, outcome.reason, outcome.exit_status) == ("complete", None, 0)
    assert {end.stopped_by for end in outcome.cells} == {"processes"}
    assert not fake_run.raw.exists()
    with open_run(fake_run.out) as run:
        metadata = run.document
        assert run.n_samples == outcome.samples == 4 * (1 + 2 * 5)
    assert (metadata.status, metadata.seed, metadata.command) == ("complete", 42, ("clonometer", "run"))
    assert [entry.process for entry in metadata.processes] == [0, 1, 2, 3]
    assert {entry.status for entry in metadata.processes} == {"ok"}
    assert all(0 <= entry.started_ns < (entry.ended_ns or 0) for entry in metadata.processes)
    assert metadata.clock.clock == "monotonic"
    assert metadata.host["kernel.release"] == os.uname().release
    assert len(metadata.blocks) == 4 * 3
    assert {cell.status for cell in metadata.cells} == {"ok"}


def test_a_driver_is_asked_for_the_whole_condition(fake_run: FakeRun) -> None:
    fake_run(workloads=("launch.fork",), settings=("parent_bytes=64MiB", "open_files=3"), processes=1)
    words = fake_run.starts()[-1]["argv"]
    assert words[0] == "--fd"
    asked = dict(word.split("=", 1) for word in words[2:])
    assert asked["workload"] == "launch.fork"
    assert asked["parent_bytes"] == str(64 << 20)
    assert (asked["open_files"], asked["placement"], asked["temperatures"]) == ("3", "pinned", "cold,warm")
    assert (asked["samples"], asked["blocks"], asked["clock"]) == ("5", "2", "monotonic")
    assert "linkage" not in asked


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("truncate", "broke off"),
        ("half_block", "broke off"),
        ("no_done", "DONE is missing"),
        ("wrong_version", "version 99"),
        ("rubbish", "does not begin with"),
        ("bad_crc", "crc32 .* the samples are damaged"),
        ("die", "SIGKILL.*last words: fake driver: about to die"),
        ("failed", "the parent's memory could not be built"),
        ("failed_block", "swapped out"),
    ],
)
def test_a_driver_that_misbehaves_fails_its_cells_and_no_others(
    fake_run: FakeRun, mode: str, reason: str, alive: Callable[[int], bool]
) -> None:
    outcome = fake_run(mode, only="launch.fork", processes=3)
    assert statuses(outcome) == {"launch.fork": {"failed"}, "launch.pthread": {"ok"}}
    assert (outcome.status, outcome.exit_status) == ("partial", 4)
    assert outcome.reason == "2 of 4 cells failed"
    failed = [end for end in outcome.cells if end.status == "failed"]
    for end in failed:
        assert end.reason is not None
        assert re.search(reason, end.reason), end.reason
        assert end.stopped_by is None
    # Given up after the second failure in a row; the good one has all its processes.
    with open_run(fake_run.out) as run:
        entries = run.document.processes
        assert sum(entry.status == "failed" for entry in entries) == 2
        assert sum(entry.status == "ok" for entry in entries) == 3
        assert {cell.cell: cell.status for cell in run.document.cells} == {
            end.cell: end.status for end in outcome.cells
        }
    assert not any(alive(pid) for pid in fake_run.measuring_pids())


def test_a_hang_is_given_up_and_nothing_is_left(fake_run: FakeRun, alive: Callable[[int], bool]) -> None:
    outcome = fake_run("hang", only="launch.fork", driver_timeout_s=1.0)
    assert statuses(outcome) == {"launch.fork": {"failed"}, "launch.pthread": {"ok"}}
    assert "gave no answer within 1 s" in str(outcome.cells[0].reason)
    assert len(fake_run.measuring_pids()) == 4
    assert not any(alive(pid) for pid in fake_run.measuring_pids())


def test_whole_blocks_of_a_driver_that_died_are_kept(fake_run: FakeRun) -> None:
    fake_run("die", only="launch.fork", workloads=("launch.fork",))
    with open_run(fake_run.out) as run:
        assert run.n_samples == 2
        assert run.document.status == "failed"
        assert run.document.processes[0].exit_status == -signal.SIGKILL


def test_noise_on_its_other_streams_disturbs_nobody(fake_run: FakeRun) -> None:
    outcome = fake_run("noise_on_stderr")
    assert outcome.status == "complete"
    with open_run(fake_run.out) as run:
        assert all(len(entry.stderr) == 2000 for entry in run.document.processes)


def test_what_the_machine_cannot_do_is_skipped_once_with_the_numbers(fake_run: FakeRun) -> None:
    outcome = fake_run("skipped", only="launch.fork", processes=3)
    assert statuses(outcome) == {"launch.fork": {"skipped"}, "launch.pthread": {"ok"}}
    assert (outcome.status, outcome.exit_status) == ("complete", 0)
    assert outcome.cells[0].reason == "needs 1,073,741,824 bytes, 512,000,000 are available"
    asked = [start for start in fake_run.starts() if "workload=launch.fork" in start["argv"]]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("workload", "settings", "reason"),
    [
        ("launch.absent", (), "needs Linux 9.9, this is 6.1"),
        ("launch.fork", ("page_kind=hugetlb", "parent_bytes=2MiB"), "page_kind=hugetlb: 0 huge pages are reserved"),
        (
            "launch.fork",
            ("linkage=dynamic_now",),
            "no driver was built with linkage dynamic_now, only static",
        ),
    ],
)
def test_what_is_known_to_be_missing_starts_no_driver(
    fake_run: FakeRun, workload: str, settings: tuple[str, ...], reason: str
) -> None:
    outcome = fake_run(workloads=(workload,), settings=settings)
    assert {(end.status, end.reason) for end in outcome.cells} == {("skipped", reason)}
    assert outcome.exit_status == 0
    assert not fake_run.measuring_pids()
    with open_run(fake_run.out) as run:
        assert run.n_samples == 0


def test_failed_launches_are_counted_and_no_failure_of_the_cell(fake_run: FakeRun) -> None:
    outcome = fake_run("failed_launches", workloads=("launch.fork",))
    assert outcome.status == "complete"
    with open_run(fake_run.out) as run:
        assert sum(block.outcomes["EAGAIN"] for block in run.document.blocks) == 4


def test_an_existing_file_is_refused_before_any_driver_measures(fake_run: FakeRun) -> None:
    fake_run.out.write_text("precious")
    with pytest.raises(OutputError, match="exists"):
        fake_run()
    assert fake_run.out.read_text() == "precious"
    assert not fake_run.measuring_pids()
    assert fake_run(force=True).status == "complete"


def test_an_unfinished_run_is_not_overwritten(fake_run: FakeRun) -> None:
    fake_run.raw.write_text("precious")
    with pytest.raises(OutputError, match="unfinished run"):
        fake_run()
    assert fake_run.raw.read_text() == "precious"
    assert not fake_run.measuring_pids()


class Interrupting(Silent):
    """Sends signals to this process as a driver begins to measure, by default the third, which never answers."""

    def __init__(self, fake_run: FakeRun, number: int, times: int = 1, at: int = 2) -> None:
        self.fake_run, self.number, self.times, self.at = fake_run, number, times, at

    def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
        if process == self.at:
            self.fake_run.monkeypatch.setenv("FAKE_DRIVER_MODE", "slow")
            self.fake_run.monkeypatch.setenv("FAKE_DRIVER_SLOW_S", "600")
            for _ in range(self.times):
                signal.raise_signal(self.number)

    def run_ended(self, status: str, reason: str | None) -> None:
        if self.times > 1:
            signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_an_interrupt_keeps_what_was_measured(fake_run: FakeRun, number: int, alive: Callable[[int], bool]) -> None:
    before = signal.getsignal(number)
    outcome = fake_run(processes=10, progress=Interrupting(fake_run, number))
    assert (outcome.status, outcome.exit_status) == ("partial", 130)
    assert "interrupted after 3 processes" in str(outcome.reason)
    assert signal.getsignal(number) is before
    with open_run(fake_run.out) as run:
        assert run.document.status == "partial"
        assert run.n_samples == 2 * 11
        assert [entry.status for entry in run.document.processes] == ["ok", "ok", "failed"]
        assert run.document.processes[2].reason == "the run was interrupted"
    assert not fake_run.raw.exists()
    assert not any(alive(pid) for pid in fake_run.measuring_pids())


def test_an_interrupt_wakes_the_runner_while_a_driver_measures(fake_run: FakeRun) -> None:
    class Later(Silent):
        def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
            if process == 0:
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    fake_run.monkeypatch.setenv("FAKE_DRIVER_SLOW_S", "600")
    began_s = time.monotonic()
    outcome = fake_run("slow", progress=Later())
    assert time.monotonic() - began_s < 20
    assert outcome.exit_status == 130
    assert outcome.path is None
    assert not fake_run.out.exists()
    assert not fake_run.raw.exists()


def test_blocks_that_arrived_before_the_interrupt_count(fake_run: FakeRun) -> None:
    class Later(Silent):
        def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    outcome = fake_run("hang", workloads=("launch.fork",), progress=Later())
    assert [(end.cell, end.status) for end in outcome.cells] == [
        ("launch.fork[temperature=cold]", "ok"),
        ("launch.fork[temperature=warm]", "missing"),
    ]
    assert outcome.samples == 1


def test_a_second_interrupt_loses_nothing(fake_run: FakeRun) -> None:
    outcome = fake_run(processes=10, progress=Interrupting(fake_run, signal.SIGINT, times=3))
    assert outcome.exit_status == 130
    with open_run(fake_run.out) as run:
        assert run.n_samples == 2 * 11


def test_cells_that_were_never_reached_are_missing(fake_run: FakeRun) -> None:
    outcome = fake_run(processes=10, progress=Interrupting(fake_run, signal.SIGINT, at=1))
    assert sorted(end.status for end in outcome.cells) == ["missing", "missing", "ok", "ok"]


def no_room(writer: RawWriter, data: bytes) -> None:
    if writer.n_blocks >= 4:
        writer.close()
        raise OutputError("no room on disk for run.raw; 4 blocks are saved", "make room")
    original_append(writer, data)


original_append = RawWriter._append


def test_a_full_disk_ends_the_run_with_what_was_saved(fake_run: FakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RawWriter, "_append", no_room)
    outcome = fake_run(processes=5)
    assert (outcome.status, outcome.exit_status) == ("partial", 4)
    assert "no room on disk" in str(outcome.reason)
    with open_run(fake_run.out) as run:
        assert run.document.status == "partial"
        assert 11 <= run.n_samples < 5 * 11


def test_where_not_even_the_run_file_fits_the_raw_file_remains(
    fake_run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clonometer.runfile import RunFileWriter

    def refuse(writer: RunFileWriter, metadata: object) -> Path:
        raise OutputError("cannot write run.parquet: no room on disk")

    monkeypatch.setattr(RunFileWriter, "write", refuse)
    with pytest.raises(OutputError, match=r"44 samples are saved in .*run.raw") as raised:
        fake_run()
    assert "clonometer recover" in str(raised.value.hint)
    monkeypatch.undo()
    recovered = recover(fake_run.raw, fake_run.folder / "saved.parquet")
    assert (recovered.n_samples, recovered.status) == (44, "complete")


def test_the_observer_hears_of_everything_in_order(fake_run: FakeRun) -> None:
    heard: list[str] = []

    class Listening:
        def run_started(self, plan: Plan) -> None:
            heard.append("run")

        def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
            heard.append(f"start {process}")

        def process_ended(self, target: Target, process: int, status: str, reason: str | None) -> None:
            heard.append(f"{status} {process}")

        def run_ended(self, status: str, reason: str | None) -> None:
            heard.append(status)

    fake_run(workloads=("launch.fork",), progress=Listening())
    assert heard == ["run", "start 0", "ok 0", "start 1", "ok 1", "complete"]


def test_one_failure_among_good_processes_does_not_fail_the_cell(
    fake_run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneBad(Silent):
        def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
            monkeypatch.setenv("FAKE_DRIVER_MODE", "rubbish" if process == 1 else "ok")

    outcome = fake_run(workloads=("launch.fork",), processes=4, progress=OneBad())
    assert outcome.status == "complete"
    assert {end.status for end in outcome.cells} == {"ok"}
    assert all("1 of 4 processes failed" in str(end.reason) for end in outcome.cells)


@pytest.mark.parametrize("fault", ["write", "measure"])
def test_the_observer_is_released_whatever_happens(
    fake_run: FakeRun, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    from clonometer.runfile import RunFileWriter

    heard: list[str] = []

    class Listening(Silent):
        def run_ended(self, status: str, reason: str | None) -> None:
            heard.append(status)

        def process_ended(self, target: Target, process: int, status: str, reason: str | None) -> None:
            if fault == "measure":
                raise RuntimeError("a mistake")

    def refuse(writer: RunFileWriter, metadata: object) -> Path:
        raise OutputError("cannot write run.parquet: no room on disk")

    monkeypatch.setattr(RunFileWriter, "write", refuse)
    with pytest.raises((OutputError, RuntimeError)):
        fake_run(workloads=("launch.fork",), progress=Listening())
    assert len(heard) == 1
    assert fake_run.raw.exists()
