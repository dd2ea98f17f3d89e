"""What the commands about a folder of runs share: their options, and reading it with progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.options import Option, Parsed
from clonometer.errors import UsageError
from clonometer.urls import path_or_url

if TYPE_CHECKING:
    from clonometer.dataset.load import Dataset
    from clonometer.dataset.types import RunEntry

_EVERY_S = 2.0


#: A path, or the URL of a folder elsewhere.
PLACE = Parsed("place", path_or_url)
folder_argument = click.argument("folder", metavar="FOLDER|URL", type=PLACE)
where_option = click.option(
    "--where",
    "conditions",
    metavar="FACT=VALUE",
    multiple=True,
    help="Only runs whose host has this fact, such as kernel=6.12.4; repeatable.",
)


def by_option(default: str) -> Option:
    """Make the option that says what groups hosts."""
    return click.option(
        "--by",
        metavar="FACT",
        default=default,
        show_default=True,
        help="What groups hosts: class (processor, CPUs, hypervisor), cpu, kernel, mitigations, microcode, instance, "
        "libc, host, all, or a key of docs/host.md.",
    )


def read_folder(folder: Path | str, globs: Sequence[str] = (), conditions: Sequence[str] = ()) -> Dataset:
    """Read a folder of runs by its path or URL, or what ``history --export`` has written.

    Files of runs that are new are summarized first, with progress on standard error.

    Raises
    ------
    InputError
        If it cannot be read or has no run that counts.
    UsageError
        If a glob matches nothing, or a condition is none.
    """
    from clonometer.dataset.bencher import has_bencher_files, read_bencher
    from clonometer.dataset.load import load
    from clonometer.dataset.points import read_points

    if isinstance(folder, Path):
        is_bencher = has_bencher_files(folder)
        if is_bencher or (folder.is_file() and folder.suffix != ".parquet"):
            if globs or conditions:
                raise UsageError("--only and --where are for folders of run files")
            return read_bencher(folder) if is_bencher else read_points(folder)
    return load(folder, only=globs, where=_chooser(conditions), progress=_Progress())


def _chooser(conditions: Sequence[str]) -> Callable[[RunEntry], bool]:
    from clonometer.dataset.load import group_of

    wanted = []
    for text in conditions:
        key, separator, value = text.partition("=")
        if not (key and separator and value):
            raise UsageError(f"--where {text} is no condition", "--where kernel=6.12.4")
        wanted.append((key, value))
    return lambda run: all(group_of(run.facts, key) == value for key, value in wanted)


class _Progress:
    """Says now and then how many new files have been read."""

    def __init__(self) -> None:
        self._said_s = time.monotonic()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said_s < _EVERY_S and not (self._shown and done == total):
            return
        self._said_s, self._shown = now, True
        end = "\n" if done == total or not sys.stderr.isatty() else ""
        start = "\r" if sys.stderr.isatty() else ""
        click.echo(f"{start}reading new run files: {done:,} of {total:,}{end}", err=True, nl=False)
