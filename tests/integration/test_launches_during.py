"""``launches_during`` counts all of a block or says that it did not, whatever the block does to what counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.census import can_trace

from clonometer import launches_during
from clonometer.app.launches_during import LaunchesDuring
from clonometer.errors import ClonometerError, DriverError

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not can_trace(), reason="tracepoints may not be read here"),
]

BLOCK = """
import os, subprocess, sys
from clonometer import launches_during

with launches_during() as counted:
    {begin}
    for _ in range(10):
        subprocess.run(["true"])
print(counted.counts.launches["max"])
"""


def run_block(begin: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCK.format(begin=begin)], capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize("last", [200, 600, 65536])
def test_a_block_that_closes_descriptors_is_counted_or_an_error(last: int) -> None:
    ended = run_block(f"os.closerange(3, {last})")
    if last == 200:
        assert (ended.returncode, ended.stdout) == (0, "10\n"), ended.stderr
    else:
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "the descriptor that it answers on was closed" in ended.stderr


def test_a_signal_that_the_block_holds_back_waits_for_it() -> None:
    held = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1}); "
    waited = "os.kill(os.getpid(), signal.SIGUSR1); assert signal.sigtimedwait({signal.SIGUSR1}, 5) is not None"
    ended = run_block(held + waited)
    assert (ended.returncode, ended.stdout) == (0, "10\n"), ended.stderr


def children() -> set[int]:
    """Of any thread of this process: others' are among them, since tests before these may have left some."""
    of_threads = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for pids in of_threads for pid in pids}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_census_that_somebody_ends_before_the_block_is_an_error(number: signal.Signals) -> None:
    """A census that is asked to end tells what it has counted until then, which is too little."""
    census, others = LaunchesDuring(), children()
    census.start()
    [watcher] = children() - others
    os.kill(watcher, number)
    census._thread.join(20)
    subprocess.run(["true"], check=True)
    with pytest.raises(DriverError):
        census.stop()
    with pytest.raises(DriverError):
        assert census.counts
    with pytest.raises(DriverError):
        assert census.tally


def test_a_census_whose_thread_dies_is_an_error() -> None:
    def receive(line: object) -> None:
        raise MemoryError("no room")

    census = LaunchesDuring(receive)
    with pytest.raises(DriverError, match="the census of this block is not whole: no room"):
        census.start()


def test_a_census_whose_thread_dies_later_is_an_error() -> None:
    def receive(line: dict[str, object]) -> None:
        if line["line"] != "begin":
            raise RecursionError

    census = LaunchesDuring(receive)
    census.start()
    subprocess.run(["true"], check=True)
    with pytest.raises(DriverError, match="RecursionError"):
        census.stop()


def test_what_is_forked_within_a_block_and_leaves_it_ends_nothing() -> None:
    with launches_during() as counted:
        child = os.fork()
        if child == 0:
            try:
                counted.stop()
                counted.counts  # noqa: B018
            except ClonometerError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        subprocess.run(["true"], check=True)
    assert counted.counts.launches["max"] == 2


def test_counts_before_the_end_are_refused() -> None:
    with launches_during() as counted:
        with pytest.raises(DriverError, match="it has not ended"):
            assert counted.counts
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
    assert counted.counts.launches["max"] == counted.counts.launches["thread"] == 1


def test_counts_with_lost_events_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with launches_during() as counted:
        pass
    monkeypatch.setitem(counted.tally.ended, "lost", 3)
    with pytest.raises(DriverError, match="3 events were lost"):
        assert counted.counts


def own_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("block", [lambda: None, lambda: subprocess.run(["true"], check=True)])
def test_nothing_of_it_is_left(block: Callable[[], object]) -> None:
    before, others = own_descriptors(), children()
    with launches_during():
        block()
    assert own_descriptors() == before
    assert children() <= others
