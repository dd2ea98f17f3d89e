"""Output files of the command line: written whole or not at all, and former runs kept."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from clonometer.errors import OutputError


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: under another name first, then by rename.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: under another name first, then by rename.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write a file piece by piece, whole or not at all: under another name first, then by rename.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def keep_previous(path: Path) -> Path | None:
    """Rename an existing file to ``NAME.previous.SUFFIX``; the one that was there is replaced.

    Returns
    -------
    pathlib.Path or None
        Its new name, or None where there was no file.

    Raises
    ------
    OutputError
        If it cannot be renamed.
    """
    if not path.is_file():
        return None
    previous = path.with_suffix(f".previous{path.suffix}")
    try:
        path.replace(previous)
    except OSError as error:
        raise OutputError(f"cannot rename {path} to {previous}: {error.strerror}") from error
    return previous
