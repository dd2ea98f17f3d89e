"""``clonometer start-method``: what ways to start workers cost and break, for the user's runtime, module and data."""

from __future__ import annotations

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    budget_option,
    drawn_seed_option,
    examples,
    json_option,
    number_option,
    page_options,
)
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_FAILED_CELLS

#: Its place in the list of commands.
ORDER = 177

_EXAMPLES = examples(
    "clonometer start-method -- python -c 'import mymodule'",
    "clonometer start-method --import numpy --data-mb 256 --workers 4",
    "clonometer start-method --runtime /opt/python3.14/bin/python3 --import json",
    "clonometer start-method --import json --json | jq '.rankings'",
)


@click.command(name="start-method", epilog=_EXAMPLES)
@click.argument("words", metavar="[-- PYTHON -c CODE]", nargs=-1, type=click.UNPROCESSED)
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="Import this module; repeatable.")
@click.option("--runtime", metavar="PATH", help="A Python.  [default: the command's, else python3]")
@number_option("--data-mb", "data_mb", "MB of small objects that every worker looks at.", 0, least=0, most=4096)
@number_option("--workers", "workers", "Workers of a pool.", 2, most=64)
@number_option("--rounds", "rounds", "Rounds at most; each runs every method once.", 8, most=200)
@budget_option("Begin no round that would end later: 30s or 2m.", default="2m")
@drawn_seed_option("Fixes the order. Default: a random one.")
@click.option("--wide", is_flag=True, help="Show intervals, all rankings, and what was wrong where something breaks.")
@json_option
@page_options
def command(
    *,
    words: tuple[str, ...],
    imports: tuple[str, ...],
    runtime: str | None,
    data_mb: int,
    workers: int,
    rounds: int,
    budget_s: float,
    seed: int,
    wide: bool,
    as_json: bool,
    pages: Pages,
) -> int:
    """Compare the ways to start workers in Python, for a module and data of yours.

    These are fork, forkserver, spawn, threads and sub-interpreters.

    A small program imports what CODE imports, as yours does. With each method it starts workers and a pool, in a
    process of its own, in random order. Shown are the time until the first worker's result, and that of later ones.
    Further, the time until a pool is ready, per task in it, and of a task per worker that computes for 20 ms. Memory
    is that of all processes with the pool: PSS, and private pages alone.

    It also tries with each what is known to break: locks, functions that cannot be handed over, and others.
    """
    from clonometer.app.start_method import start_method
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.start_method import start_method_document

    answer = start_method(
        words,
        imports=imports,
        runtime=runtime,
        data_mb=data_mb,
        workers=workers,
        rounds=rounds,
        budget_s=budget_s,
        seed=seed,
        progress=make_progress(),
    )
    print_document(start_method_document, answer, pages=pages, as_json=as_json, wide=wide)
    return 0 if any(row.status == "measured" for row in answer.rows) else EXIT_FAILED_CELLS


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.start_methods.types import StartMethodAnswer

    return [
        JsonSchema(
            "start-method",
            "Start methods of a Python, what they cost and break. Times are in nanoseconds, memory in bytes.",
            {"start-method": StartMethodAnswer},
            title="clonometer start-method --json",
        )
    ]
