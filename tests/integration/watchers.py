"""Programs that start a command under watch, started themselves without the front end, and what becomes of both."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.integration.leftovers import gone
from tests.integration.started import members

from clonometer.runner.census import NAME
from clonometer.runner.drivers import bin_folder

_PATIENCE_S = 30.0
_SENDER = """
import os, sys
for line in sys.stdin:
    group, number = map(int, line.split())
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass
    print(flush=True)
"""


def census_words(how: str, *command: str) -> list[str]:
    """A census of a command, by this way."""
    return [str(bin_folder() / NAME), "--fd", "{fd}", f"how={how}", "--", *command]


def tracer_words(how: str, *command: str) -> list[str]:
    """The tracer, listening so."""
    return [str(bin_folder() / "tracer"), "--fd", "{fd}", "trace", f"how={how}", "--", *command]


def on_one_cpu() -> None:
    """Called in a new process: from here on watcher and command take turns."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class Watcher:
    """A watcher in a session of its own, and the pipe with its answer."""

    def __init__(self, words: Sequence[str], before: Callable[[], None] | None = None) -> None:
        self._answer, writing = os.pipe()
        self.process = subprocess.Popen(
            [str(writing) if word == "{fd}" else word for word in words],
            pass_fds=[writing],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            preexec_fn=before,
        )
        os.close(writing)
        self.pid = self.process.pid

    def child(self) -> int | None:
        """Its command, or what waits to become one; None where there is none, any more or yet."""
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                for child in (task / "children").read_text().split():
                    return int(child)
        return None

    def await_child(self) -> int | None:
        """Wait for its command, without a pause; None where it has ended before."""
        end_s = time.monotonic() + _PATIENCE_S
        while (child := self.child()) is None and self.process.poll() is None and time.monotonic() < end_s:
            pass
        return child

    def end(self, patience_s: float = _PATIENCE_S) -> bytes:
        """Wait for its end, and that of all that has its answer; what it answered."""
        answer = bytearray()
        end_s = time.monotonic() + patience_s
        with os.fdopen(self._answer, "rb", buffering=0) as pipe:
            while select.select([pipe], [], [], max(0.0, end_s - time.monotonic()))[0]:
                piece = pipe.read(1 << 16)
                if not piece:
                    break
                answer += piece
        try:
            self.process.wait(max(0.1, end_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()
            raise AssertionError(f"it did not end within {patience_s:g} s") from None
        return bytes(answer)

    def lines(self) -> list[dict[str, Any]]:
        """What a census said, once it has ended; those of tasks aside."""
        parts = (json.loads(line) for line in self.end().splitlines())
        return [part for part in parts if isinstance(part, dict)]

    def left_nothing(self) -> bool:
        """Whether no process of its session is left."""
        return gone(lambda: members(self.pid))


class Sender:
    """Sends signals to groups as a terminal does, which has started nobody in them: a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SENDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._lock = threading.Lock()
        self.pid = self._process.pid

    def send(self, group: int, number: int) -> None:
        """Send a signal to a group, and return when it has been sent; nothing where the group has gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(f"{group} {number}\n")
            self._process.stdout.readline()

    def end(self) -> None:
        """Stop it."""
        self._process.communicate()


@contextlib.contextmanager
def sender() -> Iterator[Sender]:
    """Have a sender while the block runs."""
    made = Sender()
    try:
        yield made
    finally:
        made.end()
