"""What the commands about a folder of runs share: their options, and reading it with progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.options import Option, Parsed
from clonometer.urls import path_or_url

if TYPE_CHECKING:
    from clonometer.dataset.load import Dataset


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


def read_folder(folder: Path | str, globs: Sequence[str], conditions: Sequence[str]) -> Dataset:
    """Read a folder of runs, with progress on standard error: see `clonometer.load_folder`."""
    from clonometer.app.folder import load_folder
    from clonometer.cli.progress import make_progress

    return load_folder(folder, only=globs, where=conditions, progress=make_progress())
