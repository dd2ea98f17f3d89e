"""A program that holds a heap and launches on request (programs/heap.py says how it is asked), and its memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_MOST_S = 120.0
_FIRST = -20


class HeldHeap:
    """A program whose heap has been made."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid
        self._expect("ready")

    def write(self) -> None:
        """Have it write to each object.

        Raises
        ------
        RuntimeError
            If it has ended.
        """
        self._say("write")
        self._expect("written")

    def launch(self, way: str) -> tuple[int, int]:
        """Have it launch; the ns until the call returned, and until the program had ended.

        Raises
        ------
        RuntimeError
            If it has ended.
        """
        self._say(way)
        call, end = self._line().split()
        return int(call), int(end)

    def memory(self) -> dict[str, int]:
        """What `memory_of` sees now."""
        return memory_of(Path(f"/proc/{self.pid}/smaps").read_text(encoding="utf-8"))

    def run_before_others(self) -> bool:
        """Move its threads and children to the class rr, so that others take none of its time; whether it could."""
        try:
            for thread in [task for process in self.family() for task in _tasks(process)]:
                os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))
        except PermissionError:
            return False
        return True

    def cpu_ticks(self) -> int:
        """Clock ticks that it, its children, and those of them that have ended, have used."""
        return sum(_ticks(process) for process in self.family())

    def family(self) -> list[int]:
        """Itself and its children."""
        children = []
        for task in _tasks(self.pid):
            with suppress(OSError):
                children += Path(f"/proc/{self.pid}/task/{task}/children").read_text(encoding="ascii").split()
        return [self.pid, *map(int, children)]

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def _expect(self, word: str) -> None:
        if (line := self._line()) != word:
            raise RuntimeError(f"{self._process.args!r} said {line!r}, not {word!r}")

    def _line(self) -> str:
        assert self._process.stdout is not None
        timer = threading.Timer(_MOST_S, self._process.kill)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        return line.strip()


@contextmanager
def held(words: Sequence[str], variables: Sequence[tuple[str, str]]) -> Iterator[HeldHeap]:
    """Start a program and wait for its heap; it ends with the block."""
    environment = {**os.environ, **dict(variables)}
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        # Others who want to measure need not wait until their own programs let this one make its heap.
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _FIRST)
            Path(f"/proc/{process.pid}/autogroup").write_text(str(_FIRST), encoding="ascii")
        try:
            yield HeldHeap(process)
        finally:
            # A launcher that it made is in its group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def memory_of(smaps: str) -> dict[str, int]:
    """Resident bytes, those of them that a fork leaves out (MADV_DONTFORK), and those in huge pages."""
    sums = {"resident": 0, "left_out": 0, "huge": 0}
    for area in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", smaps):
        values = dict(re.findall(r"(?m)^(\w+):\s+(\d+) kB", area))
        flags = re.search(r"(?m)^VmFlags:(.*)", area)
        resident = int(values.get("Rss", 0)) * 1024
        sums["resident"] += resident
        sums["huge"] += int(values.get("AnonHugePages", 0)) * 1024
        sums["left_out"] += resident if flags and "dc" in flags.group(1).split() else 0
    return sums


def _tasks(pid: int) -> list[int]:
    return [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]


def _ticks(pid: int) -> int:
    """Of user and system, with those of children that were waited for (fields 14 to 17 of proc_pid_stat)."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    return 0
