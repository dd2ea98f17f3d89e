"""Output files of the command line: written whole or not at all, and former runs kept."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import rich_click as click

from clonometer.errors import OutputError


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: under another name first, then by rename.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    _write(path, [text.encode("utf-8")])


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file as `write_text` does."""
    _write(path, [data])


def write_and_say(path: Path, content: bytes | str) -> None:
    """Write a file as `write_text` does, and say so on standard error."""
    _write(path, [content if isinstance(content, bytes) else content.encode("utf-8")])
    click.echo(f"wrote {path}", err=True)


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write a file piece by piece, as `write_text` does."""
    _write(path, (piece.encode("utf-8") for piece in pieces))


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines(pieces)
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


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
