"""Starting a command of the user's own beside an empty program, each timed from its start until its end."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from clonometer.errors import CommandError, DriverError
from clonometer.runner.drivers import built_program
from clonometer.runner.endings import ended_with
from clonometer.runner.process import ANSWER_FD, supervise

_LAUNCHER, _EMPTY = "clonometer-launcher", "target_nolibc"
_NOT_STARTED = "errno"
# What the launcher starts, a line each: an empty program twice, of which the second counts, and the command.
_STARTS, _FIGURES = 3, 4


def start_command(
    path: Path,
    words: Sequence[str],
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    interrupt_fd: int | None = None,
    ignore_failure: bool = False,
) -> Mapping[str, int] | None:
    """Start an empty program, then the command, both by the same small launcher, and wait for each.

    The command has /dev/null for its input and output, and no terminal. What it leaves
    running in its process group is killed.

    Parameters
    ----------
    path
        The program to execute.
    words
        The command as the user wrote it: the first word is what the program is told that it is called.
    timeout_s
        A command that lasts longer is killed.
    environment
        By default the user's whole environment.
    interrupt_fd
        Becomes readable when the user wants to stop.
    ignore_failure
        Whether an exit status other than 0 is as good as any.

    Returns
    -------
    mapping or None
        ``wall_time`` and ``cpu_time`` in ns, ``peak_memory`` in bytes, and ``empty``, the wall time of the empty
        program in ns. CPU time is that of the command and of the children that it waited for, peak memory that of the
        largest of these. None where the user wants to stop.

    Raises
    ------
    CommandError
        If it fails or lasts too long.
    OSError
        If the kernel does not execute it.
    DriverError
        If the launcher fails.
    """
    answer = bytearray()

    def receive(data: bytes) -> bool:
        answer.extend(data)
        return True

    argv = [str(built_program(_LAUNCHER)), ANSWER_FD, str(built_program(_EMPTY)), str(path), *words]
    variables = dict(os.environ if environment is None else environment)
    ending = supervise(argv, receive, timeout_s=timeout_s, interrupt_fd=interrupt_fd, environment=variables)
    if ending.stopped == "interrupt":
        return None
    if ending.stopped is not None:
        raise CommandError(
            f"{shlex.join(words)} did not end within {timeout_s:g} s and was stopped", "--budget gives it more time"
        )
    lines = [line.split() for line in answer.decode("ascii", "replace").splitlines()]
    if len(lines) == _STARTS and lines[-1][0] == _NOT_STARTED:
        number = int(lines[-1][1])
        raise OSError(number, os.strerror(number))
    if len(lines) != _STARTS or any(len(line) != _FIGURES for line in lines):
        raise DriverError(f"{_LAUNCHER} {ending.in_full}", "please report it")
    _, (empty_ns, *_), (wall_ns, cpu_ns, peak_bytes, status) = ([int(word) for word in line] for line in lines)
    code = os.waitstatus_to_exitcode(status)
    if code != 0 and not ignore_failure:
        how = ended_with(code, memory_kill=ending.memory_kill)
        raise CommandError(f"{shlex.join(words)} {how}", "--ignore-failure compares it anyway")
    return {"wall_time": wall_ns, "cpu_time": cpu_ns, "peak_memory": peak_bytes, "empty": empty_ns}
