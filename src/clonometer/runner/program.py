"""Programs of ours that are no drivers: started once, what they print is kept, nothing is left of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.errors import DriverError
from clonometer.runner.drivers import bin_folder
from clonometer.runner.process import supervise

_MOST_OUTPUT_BYTES = 1 << 20


@dataclass(frozen=True)
class ProgramRun:
    """What came of one start of a program: what it printed, and how long it took."""

    output: str
    seconds: float


def run_program(name: str, *, timeout_s: float = 30.0, environ: Mapping[str, str] | None = None) -> ProgramRun:
    """Start a program that was built with the drivers and wait for its end; nothing of it is left.

    Raises
    ------
    DriverError
        If it is not there, ends with another status than 0, or is stopped.
    """
    path = bin_folder(os.environ if environ is None else environ) / name
    if not path.is_file():
        raise DriverError(f"{name} was not built: {path} is missing", "'make build' builds it")
    pieces: list[bytes] = []

    def receive(data: bytes) -> bool:
        pieces.append(data)
        return sum(map(len, pieces)) < _MOST_OUTPUT_BYTES

    ending = supervise([str(path)], receive, timeout_s=timeout_s)
    if ending.exit_status != 0:
        lines = ending.stderr.strip().splitlines()
        raise DriverError(f"{name} {ending.describe()}" + (f": {lines[-1]}" if lines else ""))
    return ProgramRun(b"".join(pieces).decode("utf-8", "replace"), ending.seconds)
