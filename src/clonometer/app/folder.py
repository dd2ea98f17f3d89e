"""A folder of runs, as the commands about many runs read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from clonometer.dataset.load import Dataset, group_of, load
from clonometer.dataset.points import read_points
from clonometer.dataset.types import RunEntry
from clonometer.errors import UsageError
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.urls import path_or_url

__all__ = ["load_folder"]


def load_folder(
    folder: str | os.PathLike[str],
    *,
    only: Sequence[str] = (),
    where: Sequence[str] = (),
    progress: Progress = SILENT,
) -> Dataset:
    """Read a folder of run files, or what ``clonometer history --export`` has written.

    Summaries of the runs are kept in the folder, so that only new files are read.

    Parameters
    ----------
    folder
        Its path or URL.
    only
        Globs of cells: the others are left out.
    where
        Only runs whose host has these facts, such as ``kernel=6.12.4``.
    progress
        Watches how many new files have been read.

    Raises
    ------
    InputError
        If it cannot be read, or has no run that counts.
    UsageError
        If a glob matches nothing, or ``where`` has no ``fact=value``.
    """
    place = path_or_url(os.fspath(folder))
    if isinstance(place, Path) and place.is_file() and place.suffix != ".parquet":
        if only or where:
            raise UsageError("--only and --where are for folders of run files")
        return read_points(place)
    return load(place, only=only, where=_chooser(where), progress=partial(progress.counted, "reading new run files"))


def _chooser(conditions: Sequence[str]) -> Callable[[RunEntry], bool]:
    wanted = []
    for text in conditions:
        key, separator, value = text.partition("=")
        if not (key and separator and value):
            raise UsageError(f"--where {text} is not a condition", "--where kernel=6.12.4")
        wanted.append((key, value))
    return lambda run: all(group_of(run.facts, key) == value for key, value in wanted)
