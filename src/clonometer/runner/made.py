"""Processes made for a calibration or a validation: each has what was asked for, and forks when it is asked to."""

from __future__ import annotations

import os
import select
import subprocess  # noqa: TID251 (a dialogue; supervise() only listens)
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from clonometer.errors import DriverError
from clonometer.runner.drivers import built_program
from clonometer.runner.endings import MemoryKills, ended_with
from clonometer.runner.environment import fixed_variables, padded, room_for

_MAKER = "clonometer-maker"
#: Writing 4 GiB anew before a fork takes seconds on a slow machine.
_PATIENCE_S = 60.0
_CHUNK_BYTES = 1 << 16
_END_S = 5.0
#: Caches do not forget the oldest first: writing to four times the last level leaves next to nothing in it of before.
_TIMES_CACHE = 4
_LEAST_BYTES, _MOST_BYTES = 128 << 20, 512 << 20


def cache_emptier(cache_bytes: int | None) -> Callable[[], None]:
    """Make what empties the caches of what was in them: writing to more memory than they hold.

    ``cache_bytes`` are those of the last level; None where that is not known.

    Notes
    -----
    Level 2 of other processors keeps what it has. So it is in a server, whose other programs run on any of them.
    """
    import numpy as np

    wanted = _TIMES_CACHE * (cache_bytes or 0)
    lines = np.zeros(min(max(wanted, _LEAST_BYTES), _MOST_BYTES) // 8, dtype=np.int64)[::8]

    def empty() -> None:
        np.add(lines, 1, out=lines)

    empty()
    return empty


class MadeProcess:
    """A process with what was asked for by the keys of core/targets/maker.c; a context manager ends it.

    It ends with this process too, since it lives as long as its standard input.

    Raises
    ------
    DriverError
        If it cannot be made, with its reason.
    """

    def __init__(self, wanted: Mapping[str, int]) -> None:
        words = [str(built_program(_MAKER)), *(f"{key}={count}" for key, count in wanted.items() if count)]
        variables = fixed_variables()
        self._kills = MemoryKills()
        self._child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
            env=padded(variables, room_for(variables)),
        )
        self._received = b""
        try:
            self._line()
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def fork(
        self, *, written_percent: int, idle_ms: int, forks: int, executes: bool = False
    ) -> Sequence[tuple[int, int]]:
        """Have it fork so often, idle for so long before each.

        ``written_percent``: of its written pages, to which it writes before each fork; with no forks, once. Gives for
        each fork, in ns, the call, and how long the parent waited from there: for the child's end, or until it has
        executed a program where it ``executes``.

        Raises
        ------
        DriverError
            If it ended, or does not answer.
        """
        assert self._child.stdin is not None  # It was asked for above.
        try:
            self._child.stdin.write(f"{written_percent} {idle_ms} {forks} {executes:d}\n".encode())
        except BrokenPipeError:
            raise self._ended() from None
        return [(int(call), int(end)) for call, _, end in (word.partition(":") for word in self._line().split())]

    def end(self) -> None:
        """End it, if it has not ended."""
        try:
            # The end of its input is all that it waits for.
            self._child.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _line(self) -> str:
        assert self._child.stdout is not None  # It was asked for above.
        descriptor = self._child.stdout.fileno()
        deadline_s = time.monotonic() + _PATIENCE_S
        while b"\n" not in self._received:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline_s - time.monotonic()))
            if not ready:
                raise DriverError(f"a process created for this did not answer within {_PATIENCE_S:g} s")
            data = os.read(descriptor, _CHUNK_BYTES)
            if not data:
                raise self._ended()
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line.decode("ascii", "replace")

    def _ended(self) -> DriverError:
        _, errors = self._child.communicate()
        last = errors.decode("utf-8", "replace").strip().splitlines()[-1:]
        how = ended_with(self._child.returncode, memory_kill=self._kills.more())
        return DriverError(last[0] if last else f"a process created for this {how}")
