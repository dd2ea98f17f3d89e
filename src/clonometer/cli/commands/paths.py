"""``clonometer paths``: how runtimes launch, what the kernel sees of it, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import json_text, print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, examples, json_option, page_options
from clonometer.cli.outputs import Pages, write_and_say
from clonometer.errors import EXIT_FAILED_CELLS, EXIT_REGRESSION, UsageError

#: Its place in the list of commands.
ORDER = 175

_EXAMPLES = examples(
    "clonometer paths",
    "clonometer paths python",
    "clonometer paths python --json | jq '.runtimes[].path[].api'",
    "clonometer paths --check python node",
    "clonometer paths --check python=/opt/python3.14/bin/python3",
)


@click.command(name="paths", epilog=_EXAMPLES)
@click.argument("runtimes", metavar="[RUNTIME...]", nargs=-1)
@click.option(
    "--check",
    "wants_check",
    is_flag=True,
    help="Run each line whose runtime is installed, and say where the book is wrong.",
)
@click.option("--record", metavar="FILE", type=FILE, help="With --check: write what was seen to a file.")
@json_option
@page_options
def command(*, runtimes: tuple[str, ...], wants_check: bool, record: Path | None, as_json: bool, pages: Pages) -> int:
    """Show how the APIs and options of a runtime launch: by fork, which copies memory, or by something cheaper.

    It is a book of facts: one line per API, option and range of versions, with what the kernel sees, why, and what to
    write instead. Without RUNTIME it lists the runtimes.

    --check runs the few lines of code of each entry under a census. RUNTIME=PROGRAM checks a program that is not in
    PATH. The exit status is 1 if the book is wrong, and 4 if code could not be run.
    """
    if record is not None and not wants_check:
        raise UsageError("--record needs --check", "it records what a check saw")
    if wants_check:
        return _check(runtimes, record, as_json=as_json, pages=pages)
    from clonometer.app.paths import paths
    from clonometer.views.documents.paths import paths_document

    print_document(paths_document, paths(runtimes), pages=pages, as_json=as_json)
    return 0


def _check(words: tuple[str, ...], record: Path | None, *, as_json: bool, pages: Pages) -> int:
    from clonometer.app.paths import check_paths, recorded
    from clonometer.records import to_json
    from clonometer.verdicts import Status
    from clonometer.views.documents.paths import checked_document

    checked = check_paths(words, lambda line: click.echo(line, err=True))
    if record is not None:
        write_and_say(record, json_text(to_json(recorded(checked, record))))
    print_document(checked_document, checked, pages=pages, as_json=as_json)
    if checked.counts[Status.FAILS]:
        return EXIT_REGRESSION
    return EXIT_FAILED_CELLS if checked.counts[Status.UNKNOWN] else 0


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.launch_paths.checks import CheckedBook
    from clonometer.launch_paths.types import PathBook, SeenBook

    return [
        JsonSchema(
            "launch-paths",
            "How runtimes launch (book), and whether that is so on one machine (checked). seen: what the package keeps "
            "of what kernels saw.",
            {"book": PathBook, "checked": CheckedBook, "seen": SeenBook},
            title="clonometer paths --json, clonometer paths --check --json",
            has_nulls=False,
        ),
    ]
