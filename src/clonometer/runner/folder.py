"""A folder for run files that nobody keeps: gone afterwards, whatever ends us."""

from __future__ import annotations

import contextlib
import os
import subprocess  # noqa: TID251 (starts no task that is measured)
import tempfile
from collections.abc import Iterator
from pathlib import Path

from clonometer.errors import UnfinishedError
from clonometer.runner.interrupts import held_back

_PATIENCE_S = 10.0
# Its input ends when we do, in whatever way: the only sign of a death by SIGKILL that cannot be missed.
_REMOVE_WHEN_GONE = 'while read -r _; do :; done; rm -rf -- "$1"'


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder that lasts as long as the block; a shell that sleeps meanwhile removes it if we are killed.

    Raises
    ------
    OSError
        If it cannot be made.
    UnfinishedError
        If a run in it cannot be finished, which is then lost.
    """
    with contextlib.ExitStack() as stack:
        # A signal between the folder and those who will remove it would leave it for ever.
        with held_back():
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="clonometer-"))
            # Without it only SIGKILL leaves the folder.
            with contextlib.suppress(OSError):
                stack.enter_context(_removed_when_gone(folder))
        try:
            yield Path(folder)
        except UnfinishedError as error:
            # Where it says that the samples are is nothing in a moment.
            raise UnfinishedError(error.why, "what was measured is lost", "TMPDIR names another folder") from error


@contextlib.contextmanager
def _removed_when_gone(folder: str) -> Iterator[None]:
    """A shell holds the other end of a pipe: however this process ends, it then removes the folder."""
    remover = subprocess.Popen(
        ["/bin/sh", "-c", _REMOVE_WHEN_GONE, "sh", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env=os.environ,
    )
    try:
        yield
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            remover.communicate(timeout=_PATIENCE_S)
