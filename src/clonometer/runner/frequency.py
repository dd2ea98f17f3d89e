"""The axis ``frequency``: set by the guardian around a process that measures, and set back whatever dies."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess  # noqa: TID251 (the guardian is started by the runner alone)
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from clonometer.errors import DriverError, OutputError, UnavailableError
from clonometer.runner.drivers import GUARDIAN, bin_folder
from clonometer.runner.process import supervise
from clonometer.runner.saved_settings import SYS_VARIABLE, saved_folder, saved_folders

AXIS = "frequency"
AS_IS = "as_is"
_PATIENCE_S = 20.0
_REFUSED = 3
#: The guardian's file in the folder of notes, and how lines begin that say what it did with what was left there.
_SAVED, _DONE = "frequency", ("put back: ", "discarded: ")
_KHZ = {"kHz": 1, "MHz": 1000, "GHz": 1_000_000}


class NotRestoredError(DriverError):
    """The guardian could not set something back, or went without saying that all is back."""


@contextlib.contextmanager
def fixed_frequency(guardian: Path | None, frequency: str) -> Iterator[None]:
    """Keep the allowed CPUs at a frequency while the block lasts.

    The guardian sets the governor, the range and turbo back when its standard input ends, so also if this
    process is killed (docs/protocol.md). Nobody else inherits the other end: descriptors are closed on exec.

    Raises
    ------
    UnavailableError
        If the frequency cannot be set here; nothing is changed then.
    NotRestoredError
        At the end, if something could not be set back.
    """
    if guardian is None:
        raise UnavailableError(f"frequency={frequency}: clonometer-guardian, which sets it, was not built")
    # All that a driver may run on: its own pinning chooses among them.
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    try:
        folder = saved_folder()
    except OutputError as error:
        raise UnavailableError(f"frequency={frequency}: {error.message}") from error
    command: list[str | Path] = [guardian, wish_of(frequency), cpus, _sys(), folder]
    child = _start(command, frequency)
    try:
        _await_ready(child, frequency)
        yield
    finally:
        # Also where the block raised: the end of its input is all that the guardian waits for.
        trouble = _end(child)
        if trouble is not None:
            raise NotRestoredError(f"frequency={frequency} was not restored: {trouble}")


def put_back_left() -> list[str]:
    """Put back the frequencies that guardians which were killed have left; says what was done."""
    sentences, guardian = [], bin_folder() / GUARDIAN
    for folder in saved_folders():
        if not os.path.lexists(folder / _SAVED):
            continue
        if not os.access(guardian, os.X_OK):
            sentences.append(f"NOT PUT BACK: {folder / _SAVED} has CPU frequencies; clonometer-guardian was not built")
            continue
        ending = supervise([str(guardian), "restore", _sys(), str(folder)], lambda _: True, timeout_s=_PATIENCE_S)
        sentences += [line.replace(f"{guardian.name}: ", "NOT PUT BACK: ") for line in ending.stderr.splitlines()]
    return sentences


def _sys() -> str:
    return os.environ.get(SYS_VARIABLE) or "/sys"


def wish_of(frequency: str) -> str:
    """Say a frequency as the guardian wants it: ``base``, ``turbo`` or a whole number of kHz.

    Examples
    --------
    >>> wish_of("turbo"), wish_of("2400MHz"), wish_of("2.4GHz")
    ('turbo', '2400000', '2400000')
    """
    number, unit = frequency[:-3], frequency[-3:]
    return str(round(Fraction(number) * _KHZ[unit])) if unit in _KHZ else frequency


def _start(command: Sequence[str | Path], frequency: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        # Unbuffered, so that nothing read ahead is lost to `communicate`; a session of its own against Ctrl-C.
        return subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=os.environ
        )
    except OSError as error:
        raise UnavailableError(f"frequency={frequency}: cannot start {command[0]}: {error.strerror}") from error


def _await_ready(child: subprocess.Popen[bytes], frequency: str) -> None:
    assert child.stdout is not None  # It was asked for.
    ready = select.select([child.stdout], [], [], _PATIENCE_S)[0]
    line = child.stdout.readline().decode("utf-8", "replace").strip() if ready else ""
    if line != "ready":
        reason = line.removeprefix("refused: ") or "clonometer-guardian gave no answer"
        raise UnavailableError(f"frequency={frequency}: {reason}")


def _end(child: subprocess.Popen[bytes]) -> str | None:
    """End the guardian's input and wait for its word; say what is not as it was, or None."""
    try:
        answer, errors = child.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        # Not killed: it may yet set things back.
        return f"clonometer-guardian (process {child.pid}) is still at it after {_PATIENCE_S:.0f} s"
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    # What another had left is no trouble of this one.
    lines = [line for line in lines if not line.startswith(_DONE)]
    if lines:
        return lines[-1].removeprefix("clonometer-guardian: ")
    restored = child.returncode == 0 and b"restored" in answer
    return None if restored or child.returncode == _REFUSED else f"its guardian ended with status {child.returncode}"
