"""What is changed on this machine and must be put back: on disk before it is changed.

Whatever kills a process may kill all that would put its changes back: the processes of a PID namespace and of a control
group die together. Each change therefore has a file in a folder of this user alone, under ``/run`` for root, else in
``$XDG_RUNTIME_DIR`` or the user's cache folder. Its owner has it locked, which tells the living from the dead in every
PID namespace. A file that nobody has locked was left, and the next start puts back what it says.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonometer.errors import InputError, OutputError
from clonometer.files import reserve, reserve_left, sync_folder
from clonometer.inputs import parse_json
from clonometer.user_cache import is_safe, own_folder, user_folder

SYS_VARIABLE = "CLONOMETER_SYS"
"""Names a folder in the place of /sys, so that the whole way can be tried on a made tree."""

_NAME, _SCHEMA = "clonometer", 1
_PREFIX = "setting-"
_MOST_BYTES, _MOST_FILES = 1 << 20, 1000


def boot_id() -> str:
    """Which start of this machine it is; empty where the kernel does not say."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def _first_choice() -> Path | None:
    made, runtime = os.environ.get(SYS_VARIABLE), os.environ.get("XDG_RUNTIME_DIR", "")
    if made:
        return Path(made) / "run"
    if os.geteuid() == 0:
        return Path("/run")
    return Path(runtime) if runtime.startswith("/") else None


def saved_folder() -> Path:
    """Make the folder in which changes are noted.

    Raises
    ------
    OutputError
        If this user has no folder for that which nobody else may write to.
    """
    first = _first_choice()
    folder = (own_folder(first) if first is not None else None) or user_folder("XDG_CACHE_HOME", ".cache")
    if folder is None:
        raise OutputError("what must be put back cannot be noted: no folder is this user's alone")
    return folder


def saved_folders() -> list[Path]:
    """All folders in which changes may be noted, of those that are there and safe."""
    first, cache = _first_choice(), os.environ.get("XDG_CACHE_HOME", "")
    bases = [first] if first is not None else []
    if not os.environ.get(SYS_VARIABLE):
        with contextlib.suppress(RuntimeError):  # There is no home folder.
            bases.append(Path(cache) if cache.startswith("/") else Path.home() / ".cache")
    folders = []
    for base in bases:
        with contextlib.suppress(OSError):
            if is_safe((base / _NAME).lstat(), stat.S_ISDIR):
                folders.append(base / _NAME)
    return folders


class SavedSetting:
    """A note of one change, which is this process's until it is removed."""

    def __init__(self, content: Mapping[str, Any], *, durable: bool = True) -> None:
        """Write it; with ``durable``, return when the disk has it.

        Raises
        ------
        OutputError
            If it cannot be written: nothing may be changed then.
        """
        folder = saved_folder()
        self._path = folder / f"{_PREFIX}{os.urandom(12).hex()}"
        self._durable = durable
        try:
            self._descriptor = reserve(self._path)
            os.fchmod(self._descriptor, 0o600)
            self._write({"schema": _SCHEMA, "boot": boot_id(), **content})
            if durable:
                sync_folder(folder)
        except OSError as error:
            raise OutputError(f"what must be put back cannot be noted in {folder}: {error.strerror}") from error

    def add(self, content: Mapping[str, Any]) -> None:
        """Add to it; what cannot be added is missing for whoever finds it."""
        with contextlib.suppress(OSError):
            self._write(content)

    def _write(self, content: Mapping[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(content).encode() + b"\n")
        if self._durable:
            os.fsync(self._descriptor)

    def remove(self) -> None:
        """Remove it: all is as it was."""
        with contextlib.suppress(OSError):
            self._path.unlink()
        self.leave()

    def leave(self) -> None:
        """Leave it to the next start."""
        os.close(self._descriptor)


@dataclass
class LeftSetting:
    """A note that nobody owns any more; it is ours until it is closed. ``content`` is None where it is no such note."""

    path: Path
    content: Mapping[str, Any] | None

    @property
    def of_this_boot(self) -> bool:
        """Whether the machine still runs that it was written on."""
        return self.content is not None and self.content["boot"] == boot_id()

    @property
    def strange(self) -> str:
        """What is said of one that nobody here can have written."""
        return f"{self.path} is not what Clonometer wrote: look at it, and remove it"

    def remove(self) -> None:
        """Remove it: there is nothing more to do for it."""
        self.path.unlink(missing_ok=True)


def left_settings() -> Iterator[LeftSetting]:
    """Give what owners that have gone have left, each locked until the next is asked for."""
    for folder in saved_folders():
        for path in sorted(folder.glob(f"{_PREFIX}*"))[:_MOST_FILES]:
            try:
                descriptor = reserve_left(path)
            except OSError:
                yield LeftSetting(path, None)
                continue
            if descriptor is None:
                continue
            try:
                content, whole = _read(descriptor)
                if whole:
                    yield LeftSetting(path, content)
                else:
                    # Nothing was changed before it was whole.
                    path.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def _read(descriptor: int) -> tuple[Mapping[str, Any] | None, bool]:
    """Read a note: what it says, None where it is no such note; and whether its first line is whole."""
    facts = os.fstat(descriptor)
    if not is_safe(facts, stat.S_ISREG) or facts.st_nlink > 1 or facts.st_size > _MOST_BYTES:
        return None, True
    first, *more = os.pread(descriptor, _MOST_BYTES, 0).split(b"\n")
    if not more:
        return None, False
    try:
        # Names of files need not be text.
        content = parse_json(first, allow_halves=True)
        for line in filter(None, more[:-1]):
            content |= parse_json(line, allow_halves=True)
    except (InputError, TypeError):
        return None, True
    is_note = isinstance(content, dict) and content.get("schema") == _SCHEMA and isinstance(content.get("boot"), str)
    return (content if is_note else None), True
