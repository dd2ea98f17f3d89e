"""What a driver keeps outside itself while it measures, and its removal should nobody else have done it."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Collection
from pathlib import Path

from clonometer.errors import OutputError
from clonometer.runner.saved_settings import LeftSetting, SavedSetting

KEEPS = b"keeps: "
"""Begins the line on stderr by which a driver names a directory that it has made (docs/protocol.md)."""

DIRECTORY = "directory"
"""The key of a note that names one."""

# Only what bears our name and a process's number or six random characters is ever removed.
_FOLDER = re.compile(r"clonometer-[A-Za-z0-9]{6}", re.ASCII)
_GROUP = re.compile(r"clonometer\.[0-9]{1,10}", re.ASCII)
# Every control group has it.
_MARK_OF_A_GROUP = "cgroup.procs"
_MOST_KEPT = 16
_MOST_LINE_BYTES = 4096
# A remover begins as soon as its driver has gone, and a control group is busy until its last task has left.
_PATIENCE_S = 2.0
_STEP_S = 0.01


class KeptPaths:
    r"""Takes the lines that name directories out of a stream of bytes.

    Examples
    --------
    >>> kept = KeptPaths()
    >>> kept.take(b"a warning\nkeeps: /tmp/clono"), kept.take(b"meter-a1b2C3\nits end")
    (b'a warning\n', b'')
    >>> kept.rest(), kept.paths
    (b'its end', ['/tmp/clonometer-a1b2C3'])
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._line = b""

    def take(self, data: bytes) -> bytes:
        """Take in a piece of the stream; what is left of its whole lines."""
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > _MOST_LINE_BYTES:
            lines, self._line = [*lines, self._line], b""
            return b"\n".join(line for line in lines if not self._keeps(line))
        return b"".join(line + b"\n" for line in lines if not self._keeps(line))

    def rest(self) -> bytes:
        """End the stream: what its last line, which had no end, is."""
        line, self._line = self._line, b""
        return b"" if self._keeps(line) else line

    def _keeps(self, line: bytes) -> bool:
        if not line.startswith(KEEPS):
            return False
        if len(self.paths) < _MOST_KEPT:
            self.paths.append(os.fsdecode(line[len(KEEPS) :]))
        return True


def remove_left(paths: list[str], folders: Collection[str]) -> tuple[str, ...]:
    """Remove the directories that are still there, with the files in them; name those that cannot be removed.

    They are a driver's, which has ended; its remover may be removing them at the same time. A program is not believed
    further than that: a folder must be ours, and lie in one of ``folders``, in which the program was told to make it. A
    control group must be ours too, and goes only if it is empty. Without ``folders`` nothing is removed. What a program
    of this machine may name so it may remove by itself; others, who may write to ``folders`` too, gain nothing either.
    """
    ours = [path for path in paths if _is_ours(path, folders)]
    end_s = time.monotonic() + _PATIENCE_S
    while (left := tuple(path for path in ours if not _removed(path))) and time.monotonic() < end_s:
        time.sleep(_STEP_S)
    return left


def note(path: str, folders: Collection[str]) -> SavedSetting | None:
    """Note a directory that a driver keeps, so that the next start removes what nobody lives to remove."""
    if not _is_ours(path, folders):
        return None
    # Of a machine that stops suddenly none is left, or a folder of some files.
    try:
        return SavedSetting({DIRECTORY: path}, durable=False)
    except OutputError:
        return None


def remove_again(left: LeftSetting) -> str | None:
    """Remove a directory that was noted; says so, and None where it had gone."""
    path = left.content[DIRECTORY] if left.content is not None else None
    if not isinstance(path, str):
        return left.strange
    if os.path.lexists(path) and not _is_ours(path, [str(Path(path).parent)]):
        left.remove()
        return f"left alone, since it is not ours: {path}"
    was_there = os.path.lexists(path)
    if remove_left([path], [str(Path(path).parent)]):
        return f"NOT REMOVED: {path}, left by a measurement that was killed"
    left.remove()
    return f"removed: {path}, left by a measurement that was killed" if was_there else None


def _is_ours(path: str, folders: Collection[str]) -> bool:
    place = Path(path)
    try:
        if not folders or place.lstat().st_uid != os.geteuid():
            return False
    except (OSError, ValueError):
        return False
    if _GROUP.fullmatch(place.name):
        return (place / _MARK_OF_A_GROUP).exists()
    return _FOLDER.fullmatch(place.name) is not None and str(place.parent) in {str(Path(each)) for each in folders}


def _removed(path: str) -> bool:
    """Remove a folder and the files in it, following no link; True where it is gone."""
    if _FOLDER.fullmatch(Path(path).name):
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            # Where others may rename, it need not be the folder any more that was looked at.
            if os.fstat(folder).st_uid != os.geteuid():
                return True
            with os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.name, dir_fd=folder)
        finally:
            os.close(folder)
    with contextlib.suppress(OSError):
        Path(path).rmdir()
    return not os.path.lexists(path)
