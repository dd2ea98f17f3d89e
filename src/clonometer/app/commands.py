"""Commands of the user's own that are started: whether they can be, and why not."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
from pathlib import Path

from clonometer.errors import NotStartedError


def check_command(word: str) -> None:
    """Refuse a command that cannot be started.

    Raises
    ------
    NotStartedError
        If it does not exist, or cannot be executed.
    """
    if shutil.which(word) is not None:
        return
    existing = shutil.which(word, mode=os.F_OK)
    if existing is not None or (os.sep in word and Path(word).exists()):
        place = Path(existing or word)
        raise NotStartedError(
            f"cannot execute {place}: {'a folder' if place.is_dir() else 'not executable'}", exists=True
        )
    is_line = len(word.split()) > 1
    raise NotStartedError(
        f"cannot find {word}" + ("" if os.sep in word else " along PATH"),
        f"the line of a shell is run by: bash -c {shlex.quote(word)}" if is_line else None,
        exists=False,
    )


def not_started(word: str, number: int) -> NotStartedError:
    """Say why the kernel has refused, with this error number, to execute a command that seemed to be one."""
    missing = number == errno.ENOENT
    hint = ": the interpreter named in its first line, or its loader, does not exist" if missing else ""
    return NotStartedError(f"cannot execute {word}: {os.strerror(number)}{hint}", exists=not missing)
