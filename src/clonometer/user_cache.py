"""Texts that take long to make, kept in the user's cache folder (``$XDG_CACHE_HOME``, by default ``~/.cache``).

A page runs what is kept here as a script. It is therefore read only from a file and a folder that the user owns and
nobody else may write to, never through a link, and only if its checksum is right. Where no such folder can be had, as
under ``sudo`` with another user's ``HOME``, nothing is kept and nothing fails: the text is made each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from clonometer.files import writing

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST_BYTES = 32 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def kept_text(name: str, make: Callable[[], str], *, is_worth_keeping: Callable[[str], bool] = bool) -> str:
    """Read a text that an earlier call has kept, or make it and keep it if it is worth that.

    The file's name must tell everything that the text depends on, such as a library's version. What ``make`` raises is
    passed on.
    """
    folder = user_folder("XDG_CACHE_HOME", ".cache")
    if folder is None:
        return make()
    kept = _read(folder / name)
    # What an earlier release kept may not be worth it.
    if kept is not None and is_worth_keeping(kept):
        return kept
    text = make()
    if not is_worth_keeping(text):
        return text
    # A full disk or a folder that may not be written to costs the time next time, and nothing else.
    with contextlib.suppress(OSError):
        _write(folder / name, text)
    return text


def user_folder(variable: str, default: str) -> Path | None:
    """Make Clonometer's folder among the user's own.

    The environment variable (``XDG_CACHE_HOME`` or its kin) says where they are; otherwise ``default`` is the place in
    the user's home. None where this user has no folder that is safe: others may write to it, or it is another user's.
    """
    named = os.environ.get(variable, "")
    try:
        base = Path(named) if named.startswith("/") else Path.home() / default
    except RuntimeError:  # There is no home folder.
        return None
    return own_folder(base)


def own_folder(base: Path) -> Path | None:
    """Make Clonometer's folder in ``base``, and ``base`` too; None where this user has none there that is safe."""
    try:
        parent = base
        while not parent.exists():
            parent = parent.parent
        # Under another user's HOME a folder of ours would be in that user's way.
        if parent.stat().st_uid != os.geteuid():
            return None
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = base / "clonometer"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if is_safe(folder.lstat(), stat.S_ISDIR) else None
    except OSError:
        return None


def is_safe(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Whether a file or folder is of a kind (``stat.S_ISREG``), this user's, and nobody else may write to it."""
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE


def _read(path: Path) -> str | None:
    try:
        with os.fdopen(os.open(path, _OPEN), "rb") as file:
            if not is_safe(os.fstat(file.fileno()), stat.S_ISREG):
                return None
            digest, _, content = file.read(_MOST_BYTES).partition(b"\n")
    except OSError:
        return None
    return content.decode("utf-8") if digest.decode("ascii", "replace") == _digest(content) else None


def _write(path: Path, text: str) -> None:
    content = text.encode("utf-8")
    with writing(path) as new:
        os.fchmod(new.file.fileno(), 0o600)
        new.file.write(_digest(content).encode("ascii") + b"\n" + content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
