"""The helper that looks for what a command left behind finds it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration import leftovers
from tests.integration.leftovers import Trace, nothing_left
from tests.integration.started import ROOT_ONLY
from tests.integration.test_limits_real import mounts

# Some mount and unmount where all others see it.
pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "PATIENCE_S", 0.2)


def test_nothing_is_nothing(tmp_path: Path) -> None:
    with nothing_left(tmp_path / "own") as trace:
        subprocess.run(["true"], env={**os.environ, **trace.environ}, check=True)


def leaves(folder: Path, leave: Callable[[Trace], object]) -> str:
    """What the helper says of a command that leaves something."""
    try:
        with nothing_left(folder) as trace:
            leave(trace)
    except AssertionError as error:
        return str(error)
    return ""


def test_a_task_that_goes_on_is_found(tmp_path: Path) -> None:
    started = []

    def leave(trace: Trace) -> None:
        # By way of a shell that has ended, as a daemon is.
        command = ["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"]
        started.append(int(subprocess.check_output(command, env={**os.environ, **trace.environ})))

    complaint = leaves(tmp_path / "own", leave)
    os.kill(started[0], signal.SIGKILL)
    assert "tasks" in complaint
    assert "sleep" in complaint


def test_a_task_that_ends_soon_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "PATIENCE_S", 20)
    with nothing_left(tmp_path / "own") as trace:
        subprocess.run(["sh", "-c", "sleep 0.3 &"], env={**os.environ, **trace.environ}, check=True)


def test_a_temporary_file_is_found(tmp_path: Path) -> None:
    assert "temporary files" in leaves(tmp_path / "own", lambda trace: (trace.folder / "scrap").write_text("x"))


def test_a_shared_file_is_found(tmp_path: Path) -> None:
    path = Path(f"/dev/shm/clonometer-test-{os.getpid()}")
    complaint = leaves(tmp_path / "own", lambda _: path.write_text("x"))
    path.unlink()
    assert path.name in complaint


@ROOT_ONLY
def test_a_cgroup_whose_process_has_gone_is_found(tmp_path: Path) -> None:
    places = [*mounts("cgroup2", ""), *mounts("cgroup", "pids")]
    group = places[0] / "clonometer.4999999" if places else tmp_path / "none/clonometer.4999999"
    try:
        complaint = leaves(tmp_path / "own", lambda _: group.mkdir())
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    group.rmdir()
    assert "cgroups of ours" in complaint


@ROOT_ONLY
def test_a_mount_is_found(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    complaint = leaves(tmp_path / "own", lambda _: subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place]))
    if subprocess.run(["umount", place], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    assert "mounts" in complaint
