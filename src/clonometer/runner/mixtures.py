"""Processes made for a validation: each is started, read from outside while it waits, and then forks for real."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from clonometer.errors import DriverError
from clonometer.runner.drivers import bin_folder
from clonometer.runner.process import supervise

_Read = TypeVar("_Read")
_MAKER = "clonometer-maker"
_STATES = 4
_PATIENCE_S = 120.0


def fork_mixture(wanted: Mapping[str, int], read: Callable[[int], _Read]) -> tuple[_Read, dict[str, Sequence[int]]]:
    """Make one process, and have it fork.

    ``wanted`` says what it shall have, by the keys of core/targets/maker.c; ``read`` is called with its process id
    once it has all that, before it forks.

    Returns
    -------
    read
        What ``read`` gave.
    times
        By the state of its pages, what each fork's call took, in ns.

    Raises
    ------
    DriverError
        If it cannot be made or gives no answer.
    """
    path = bin_folder(os.environ) / _MAKER
    if not path.is_file():
        raise DriverError(f"{_MAKER} was not built: {path} is missing", "'make build' builds it")
    seen: list[_Read] = []
    received = bytearray()

    def receive(data: bytes) -> bool:
        received.extend(data)
        if not seen and received.endswith(b"\n"):
            pid = int(received.split()[1])
            seen.append(read(pid))
            os.kill(pid, signal.SIGUSR1)
        return True

    words = [f"{key}={count}" for key, count in wanted.items()]
    ending = supervise([str(path), *words], receive, timeout_s=_PATIENCE_S)
    lines = received.decode("ascii", "replace").splitlines()
    if ending.exit_status != 0 or len(lines) != 1 + _STATES or not seen:
        last = ending.stderr.strip().splitlines()[-1:]
        raise DriverError(": ".join([f"a process made for the validation {ending.describe()}", *last]))
    states = [line.split() for line in lines[1:]]
    return seen[0], {state: [int(word) for word in words] for state, *words in states}
