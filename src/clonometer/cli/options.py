"""What commands are declared with: options that take a time, a share or a size, and the examples of their help."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import rich_click as click
from rich.text import Text

from clonometer.app.seeds import draw_seed
from clonometer.cli.completing import complete_workloads
from clonometer.cli.outputs import Pages
from clonometer.errors import UsageError
from clonometer.units import parse_bytes, parse_seconds, parse_share

# Help says N, and an error which numbers are allowed: beside each N that takes the room of the texts.
click.rich_click.RANGE_STRING = ""

#: What declares an option of a command, which gives its exit status, or nothing for 0.
Option = Callable[[Callable[..., Any]], Callable[..., Any]]

_MOST_S = 1e7
_MOST_BYTES = 1 << 30
_MOST_BYTES_PER_S = 1 << 44

NOISE_HELP = (
    "Run-to-run noise of one row: a standard deviation such as 1%, a file of 'clonometer noise --json', or a folder "
    "of at least three runs between which nothing changed."
)


class Parsed(click.ParamType):  # type: ignore[type-arg] # its parameter is newer than rich-click asks for
    """An option whose text a function reads; what it refuses, it refuses with a `UsageError`."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the option's text; what has been read already stays."""
        try:
            return self._parse(value) if isinstance(value, str) else value
        except UsageError as error:
            self.fail("; ".join(filter(None, (error.message, error.hint))), param, ctx)


def _parse_seconds(text: str) -> float:
    """Read a time above 0, in seconds or with its unit."""
    seconds = parse_seconds(text)
    if seconds == 0:
        raise UsageError(f"{text!r}: a time must be greater than 0")
    if seconds > _MOST_S:
        raise UsageError(f"{text!r} is too long", f"at most {_MOST_S:.0f} seconds")
    return seconds


def _parse_room(text: str) -> int:
    size_bytes = parse_bytes(text)
    if not 0 < size_bytes <= _MOST_BYTES:
        raise UsageError(f"{text!r} is not between 1 byte and 1GiB")
    return size_bytes


#: A time above 0: 10, 500ms, 10s, 2m or 1h; seconds as the command gets it.
DURATION = Parsed("time", _parse_seconds)
#: A share above 0: 5% or 0.05.
SHARE = Parsed("share", parse_share)
#: A size of at most 1 GiB, such as 16MiB; bytes as the command gets it.
SIZE = Parsed("SIZE", _parse_room)


def _parse_rate(text: str) -> float:
    bytes_per_s = parse_bytes(text.strip().removesuffix("/s"))
    if bytes_per_s > _MOST_BYTES_PER_S:
        raise UsageError(f"{text!r} is more than memory can be written per second", "rates look like 50MiB or 2GiB")
    return bytes_per_s


#: A rate such as 50MiB or 50MiB/s; bytes a second as the command gets it.
SIZE_PER_SECOND = Parsed("SIZE", _parse_rate)


def _parse_process_id(text: str) -> int:
    stripped = text.strip()
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", stripped):
        raise UsageError(f"{text!r} is not a process id", "'pgrep -a NAME' finds one")
    return int(stripped)


#: The number of a process, above 0.
PROCESS_ID = Parsed("PID", _parse_process_id)


#: What more than one command has.
FILE = click.Path(path_type=Path)
run_argument = click.argument("run_file", metavar="RUN", type=FILE)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
force_option = click.option("--force", is_flag=True, help="Replace an existing file.")
only_option = click.option(
    "--only",
    "globs",
    metavar="GLOB",
    multiple=True,
    shell_complete=complete_workloads,
    help="Only cells that match; repeatable.",
)


def page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --html and --markdown, which the command gets as ``pages``, and --force where it has none itself."""
    has_force = any(each.name == "force" for each in getattr(command, "__click_params__", ()))

    @wraps(command)
    def with_pages(*, html: Path | None, markdown: Path | None, force: bool, **others: Any) -> Any:
        pages = Pages(html, markdown)
        values = [each for value in others.values() for each in (value if isinstance(value, tuple) else (value,))]
        pages.check(force=force, inputs=[value for value in values if isinstance(value, Path) and value.is_file()])
        return command(pages=pages, **others, **({"force": force} if has_force else {}))

    options = [
        click.option("--html", metavar="FILE", type=FILE, help="Also write an HTML page."),
        click.option("--markdown", metavar="FILE", type=FILE, help="Also write Markdown."),
    ]
    for option in reversed(options if has_force else [*options, force_option]):
        with_pages = option(with_pages)
    return with_pages


def _valued_option(
    name: str, parameter: str, help_text: str, metavar: str, kind: Any, *, default: int | str | None
) -> Option:
    return click.option(
        name,
        parameter,
        metavar=metavar,
        type=kind,
        default=default,
        show_default=default is not None,
        help=help_text,
    )


def number_option(
    name: str, parameter: str, help_text: str, default: int | None = None, *, least: int = 1, most: int | None = None
) -> Option:
    """Make an option that takes a whole number."""
    return _valued_option(name, parameter, help_text, "N", click.IntRange(least, most), default=default)


def share_option(name: str, parameter: str, default: str, help_text: str) -> Option:
    """Make an option that takes a share."""
    return _valued_option(name, parameter, help_text, "SHARE", SHARE, default=default)


def how_option(help_text: str) -> Option:
    """Make the option that says how a census sees tasks."""
    ways = click.Choice(["auto", "tracepoints", "ptrace"])
    return click.option("--how", metavar="WAY", type=ways, default="auto", show_default=True, help=help_text)


seed_option = number_option("--seed", "seed", "Fixes the order.", 1, least=0)
max_regression_option = share_option("--max-regression", "max_regression", "5%", "The largest slowdown allowed.")
minimum_effect_option = share_option("--min-effect", "minimum_effect", "2%", "The smallest change that gets a verdict.")


def time_option(name: str, parameter: str, help_text: str, default: str | None = None) -> Option:
    """Make an option that takes a time."""
    return _valued_option(name, parameter, help_text, "TIME", DURATION, default=default)


def budget_option(help_text: str, default: str | None = None) -> Option:
    """Make the option that says how long to measure; None: the plan says it."""
    return time_option("--budget", "budget_s", help_text, default)


def out_option(help_text: str, *, metavar: str = "FILE", required: bool = False) -> Option:
    """Make the option that says where to write."""
    return click.option("-o", "--out", metavar=metavar, type=FILE, required=required, help=help_text)


def drawn_seed_option(help_text: str) -> Option:
    """Make the option of a seed that is drawn where none is given."""
    return click.option("--seed", metavar="N", type=click.IntRange(min=0), default=draw_seed, help=help_text)


def examples(*lines: str) -> Any:
    """Make the epilog of a command from examples; a comment may follow each after two spaces and ``#``."""
    # A Text, since rich-click joins the lines of an epilog that is a plain string.
    return Text("\n".join(["Examples:", *(f"  {line}" for line in lines)]))
