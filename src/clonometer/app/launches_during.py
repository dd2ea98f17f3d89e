"""Counting the tasks that this process creates while a block runs: for tests, and for whoever embeds a census."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from clonometer.errors import ClonometerError, DriverError, UnavailableError
from clonometer.runner.census import take_census
from clonometer.runner.hooks.within import own_calls
from clonometer.tracing.census.tally import Census
from clonometer.tracing.launch_limits import CountedLaunches, LaunchBudget, LaunchLimits, judge_launches

__all__ = ["launches_during"]

#: A census listens within a tenth of a second; a machine that needs longer than this is no place for one.
_LISTENS_WITHIN_S = 60.0


class LaunchesDuring:
    """A census of this process and its descendants, from when it listens until `stop`."""

    def __init__(self, receive: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        """``receive`` gets each line of the census (`clonometer.runner.census.take_census`), in another thread."""
        self._tally = Census()
        self._also = receive
        self._listens = threading.Event()
        self._process: Any = None
        #: The tasks that do the counting: numbers of our thread, and of the process that watches.
        self.counting_tasks: tuple[int, ...] = ()
        self._error: ClonometerError | None = None
        #: A copy of us that forks within the block leaves it too, and has nothing to do with our census.
        self._counts_for = os.getpid()
        self._stopping = False
        #: What names the lines of this process; those of other programs are not known.
        self._calls: deque[str] = deque()
        self._hooked = ExitStack()
        self._thread = threading.Thread(target=self._take, name="clonometer-census", daemon=True)

    def start(self) -> None:
        """Begin, and return when it listens.

        Raises
        ------
        UnavailableError
            If no census can be taken of a running process here: tracepoints may not be read.
        """
        self._counts_for = os.getpid()
        self._thread.start()
        self._listens.wait(_LISTENS_WITHIN_S)
        if self._error is not None:
            raise self._error
        if not self._listens.is_set():
            self.stop()
            raise UnavailableError(f"the census did not listen within {_LISTENS_WITHIN_S:.0f} s")
        self._calls = self._hooked.enter_context(own_calls())

    def stop(self) -> None:
        """End it, and wait until all is counted; once is enough. A process that was forked meanwhile changes nothing.

        Raises
        ------
        DriverError
            If not all was counted: the census has ended before, or its answer did not arrive.
        """
        if os.getpid() != self._counts_for:
            return
        early, self._stopping = not self._stopping and (bool(self._tally.ended) or not self._thread.is_alive()), True
        if self._process is not None:
            self._process.terminate()
            self._process = None
        self._thread.join()
        self._hooked.close()
        if early and self._error is None:
            self._error = _incomplete("somebody ended it")
        if self._error is not None:
            raise self._error

    @property
    def tally(self) -> Census:
        """What was counted; after `stop`.

        Raises
        ------
        DriverError
            If it has not ended, not all was counted, or this is another process.
        """
        if os.getpid() != self._counts_for:
            raise _incomplete("this process was forked within it, and does not count")
        if self._error is not None:
            raise self._error
        if not self._tally.ended:
            raise _incomplete("it has not ended")
        return self._tally

    @property
    def counts(self) -> CountedLaunches:
        """How many tasks were created, by the names of limits; after `stop`.

        Raises
        ------
        DriverError
            If not all was counted, as for `tally`, or if events were lost.
        """
        lost = self.tally.ended["lost"]
        if lost:
            raise _incomplete(f"{lost:,} events were lost")
        return CountedLaunches.of(self.tally)

    def judge(self, limits: LaunchLimits, name: str) -> LaunchBudget:
        """Compare with limits; ``name`` says what ran."""
        # It was interrupted, by `stop`: what ran had ended by then. What runs on is another block's.
        return replace(judge_launches(self.tally, (name,), limits), interrupted=False, exit_status=0, still_running=0)

    def _take(self) -> None:
        def begun(process: Any) -> None:
            self._process = process
            self.counting_tasks = (threading.get_native_id(), process.pid)
            # What the block holds back is the program's: a thread that let it in would end all of them.
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

        try:
            take_census(self._receive, pid=os.getpid(), how="tracepoints", stacks=False, started=begun)
        except ClonometerError as error:
            self._error = error
        # Whoever asks for the counts must hear of it: a thread that dies tells nobody, and its counts are too small.
        except BaseException as error:
            self._error = _incomplete(str(error) or type(error).__name__)
            self._error.__cause__ = error
        finally:
            self._listens.set()

    def _receive(self, line: Mapping[str, Any]) -> None:
        # What was noted of a task was noted before the task was made.
        while self._calls:
            self._tally.take({"line": "call", "text": self._calls.popleft()})
        self._tally.take(line)
        if self._also is not None:
            self._also(line)
        if line["line"] == "begin":
            self._listens.set()


def _incomplete(why: str) -> DriverError:
    return DriverError(f"the census of this block is not whole: {why}")


@contextmanager
def launches_during() -> Iterator[LaunchesDuring]:
    """Count the tasks that this process and its descendants create while the block runs.

    Raises
    ------
    UnavailableError
        If no census can be taken of a running process here: tracepoints may not be read.
    DriverError
        At the end, if not all was counted: the block closed our descriptors, or ended the census. The counts raise it
        too.

    Examples
    --------
    >>> import subprocess
    >>> from clonometer import launches_during  # doctest: +SKIP
    >>> with launches_during() as counted:  # doctest: +SKIP
    ...     subprocess.run(["true"])
    >>> counted.counts.launches["fork"]  # doctest: +SKIP
    0
    """
    census = LaunchesDuring()
    census.start()
    try:
        yield census
    finally:
        census.stop()
