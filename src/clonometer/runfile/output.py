"""Where results go: said before anything is measured if they cannot go there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from clonometer.errors import OutputError
from clonometer.files import already_there, cannot_write, link_target, refuse_if_reserved, temporary_file


def raw_path(path: str | os.PathLike[str]) -> Path:
    """NAME.raw of a run file: beside it, with ``.raw`` for its suffix.

    Raises
    ------
    OutputError
        If the run file is itself named so.

    Examples
    --------
    >>> raw_path("clonometer-run.parquet").name
    'clonometer-run.raw'
    """
    path = Path(path)
    if path.suffix == ".raw":
        raise OutputError(f"{path}: .raw is the suffix of unfinished runs", "name the run file NAME.parquet")
    return path.with_name(path.stem + ".raw")


def previous_path(path: Path) -> Path:
    """Where the former file of a name is kept: ``NAME.previous.SUFFIX``; the one that was there is replaced.

    Examples
    --------
    >>> previous_path(Path("clonometer-run.parquet")).name
    'clonometer-run.previous.parquet'
    """
    return path.with_suffix(f".previous{path.suffix}")


def check_run_output(path: str | os.PathLike[str], *, force: bool = False, keep: bool = False) -> Path:
    """Check that a run could be written: the run file, NAME.raw beside it, and what they would be kept as.

    Raises
    ------
    OutputError
        As `check_output`, and if another run is writing these files.
    """
    path = check_output(path, force or keep)
    raw = raw_path(path)
    refuse_if_reserved(raw)
    for file in (path, raw) if keep else ():
        if file.exists():
            check_output(previous_path(file), True)
    return path


def check_output(path: str | os.PathLike[str], force: bool = False, inputs: Iterable[Path] = ()) -> Path:
    """Check that a file could be written, without writing it.

    A file is made in the folder and removed, since permissions alone do not tell of read-only and of virtual
    file systems.

    ``inputs`` are files that are read for it, which are never replaced.

    Raises
    ------
    OutputError
        If it exists and ``force`` is not set, is one of the inputs, is a folder, device or link, cannot be written, or
        has a name that is not UTF-8; with the next step.
    """
    path = Path(path)
    if str(path) == "-":
        raise OutputError("'-' does not mean standard output", "name a file; commands that can print do so by default")
    if not is_utf8(path):
        raise OutputError(f"cannot write {path}: its name is not UTF-8, which Parquet's libraries require")
    target = link_target(path)
    if target is not None:
        # Who else may write to the folder could have put it there; and whoever meant it can name the file itself.
        raise OutputError(f"{path} is a link to {target}; links are not followed", "name the file itself")
    mode: int | None
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {path}: {error}") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise OutputError(f"{path} is a folder", f"name a file in it, such as {path / 'run.parquet'}")
    if mode is not None and not stat.S_ISREG(mode):
        raise OutputError(f"{path} is not a regular file, and would be replaced")
    if mode is not None and any(each.exists() and path.samefile(each) for each in inputs):
        raise OutputError(f"{path} is an input of this command, and cannot be its output", "name another file")
    if mode is not None and not force:
        raise already_there(path)
    folder = path.parent
    if not folder.is_dir():
        why = "is not a folder" if folder.exists() else "does not exist"
        raise OutputError(f"cannot write {path}: {folder} {why}", f"mkdir -p {folder}")
    try:
        with temporary_file(folder):
            pass
    except OSError as error:
        raise cannot_write(f"in {folder}", error) from error
    return path


def is_utf8(path: Path) -> bool:
    """Whether the bytes of a path are UTF-8: Linux allows any, Arrow does not."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
