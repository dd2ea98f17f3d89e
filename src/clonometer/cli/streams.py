"""The standard streams: always there, and never a reason to fail where only words of comfort go."""

from __future__ import annotations

import contextlib
import io
import os
import sys

_STANDARD = (0, 1, 2)


class _Forgiving(io.FileIO):
    """Writes what it can: progress that nobody can read must not end what is measured."""

    def write(self, data: bytes) -> int:  # type: ignore[override] # any buffer, as its parent
        try:
            written = super().write(data)
        except OSError:
            written = None
        # None: the reader is not ready, and nobody waits for it.
        return len(data) if written is None else written


class _Unread(io.FileIO):
    """Standard output that somebody may close before the end, as head(1) does."""

    def write(self, data: bytes) -> int | None:  # type: ignore[override] # as above
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)


def outlive_the_reader() -> None:
    """Let a command that passes on the status of another end with that, even if nobody reads its answer to the end."""
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        raw = _Unread(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors)


def check_streams() -> None:
    """Take closed streams for /dev/null, and let nothing that is written to standard error fail.

    A closed one would else be the number of the next file that is opened, into which the answer went.
    """
    for number in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one; a program that is counted inherits it.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (for as long as we live)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files may be no text.
        sys.stdout.reconfigure(errors="backslashreplace")
    # Whoever has put a stream of his own in its place looks after it.
    if sys.stderr is sys.__stderr__:
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        raw = _Forgiving(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=True)


def flush_answer() -> OSError | None:
    """Send the rest of the answer on its way; give the reason where it cannot be written.

    Python would try again when it ends, and end with a status of its own.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None
