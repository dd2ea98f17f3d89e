"""What a probe does where an old container, a limit or a signal takes something away, and what it leaves."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import probe
from tests.integration import container
from tests.integration.started import ROOT_ONLY, happens, started

pytestmark = pytest.mark.real

LAUNCHES = ("launch.fork", "launch.pthread", "launch.fork_exec")
SMALL = ("samples=3", "blocks=1", "warmup=1")
FILTERED = pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")


def no_memory_file() -> None:
    container.refuse(("memfd_create",), errno.EPERM)


def no_file_in_memory() -> None:
    """Nor one in /dev/shm: what stands there takes no files."""
    container.change_mounts(("/dev/shm", "/proc"))
    no_memory_file()


def no_large_file() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 10, 20 << 10))


def ends(take_away: Callable[[], None]) -> list[tuple[str, str]]:
    """How launches of each kind end, and that the probe can still describe itself."""
    answers = [probe.ask(f"workload={workload}", *SMALL, before=take_away) for workload in LAUNCHES]
    assert subprocess.check_output([probe.executable(), "--describe"], preexec_fn=take_away).startswith(b"{")
    for answer in answers:
        if answer.done.status == "ok":
            (block,) = answer.blocks
            assert (block.columns["task_runs_ns"] > 0).all()
    return [(answer.done.status, answer.done.reason or "") for answer in answers]


@FILTERED
def test_dev_shm_serves_where_memfd_create_is_refused() -> None:
    assert ends(no_memory_file) == [("ok", "")] * 3


@pytest.mark.parametrize(
    "take_away", [pytest.param(no_file_in_memory, marks=[FILTERED, ROOT_ONLY]), pytest.param(no_large_file)]
)
def test_shared_memory_serves_where_no_file_can_be_had(take_away: Callable[[], None]) -> None:
    *same_image, (status, reason) = ends(take_away)
    assert same_image == [("ok", "")] * 2
    # A new program has no other way to the page.
    assert status == "skipped"
    assert "memfd_create" in reason
    assert "stages=parent" in reason


def keeper(pid: int) -> int | None:
    """The remover that a probe has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    named = (int(child) for child in children if Path(f"/proc/{child}/comm").read_text() == "clonometer-remo\n")
    return next(named, None)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_a_folder_goes_whatever_its_remover_is_sent(tmp_path: Path, by: signal.Signals) -> None:
    words = ("workload=contend.open", "workers=2", "samples=100000", f"block_limit_ns={10**9}", "blocks=1", "warmup=0")
    with started(*words, *probe.clock_words(), environment={"TMPDIR": str(tmp_path)}) as running:
        assert happens(lambda: keeper(running.pid))
        remover = keeper(running.pid)
        for number in {signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, by}:
            os.kill(remover, number)
        assert happens(lambda: list(tmp_path.iterdir()))
        running.answer()
        assert running.process.wait() == 0
    assert list(tmp_path.iterdir()) == []


@ROOT_ONLY
def test_a_remover_is_found_without_proc(tmp_path: Path) -> None:
    def without_proc() -> None:
        os.environ["TMPDIR"] = str(tmp_path)
        container.change_mounts(("/proc", str(tmp_path)))

    answer = probe.ask("workload=contend.open", *SMALL, before=without_proc)
    assert (answer.done.status, answer.exit_status) == ("ok", 0), answer
