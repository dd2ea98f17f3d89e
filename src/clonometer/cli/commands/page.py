"""``clonometer page``: "What does a fork cost?", as a page to share."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, examples, force_option, json_option
from clonometer.cli.outputs import Pages, write_and_say
from clonometer.errors import UsageError

#: Its place in the list of commands.
ORDER = 185

_EXAMPLES = examples(
    "clonometer page --out fork.html",
    "clonometer page --out redis.html --profile redis.json",
    "clonometer page --out fork.html memory.parquet   with measured points",
    "clonometer page --json > machine.json",
    "clonometer page --from machine.json --out fork.html",
)


@click.command(name="page", epilog=_EXAMPLES)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=FILE)
@click.option("--out", metavar="FILE", type=FILE, help="The page, which is one file that fetches nothing.")
@click.option("--profile", metavar="FILE", type=FILE, help="Begin with a process: a file of predict --save-profile.")
@click.option("--from", "source", metavar="FILE", type=FILE, help="Measure nothing: take what page --json printed.")
@click.option("--rough", is_flag=True, help="Use the rough model, and measure nothing.")
@click.option("--no-scan", is_flag=True, help="Do not measure the present speed for 3 s.")
@json_option
@force_option
def command(
    *,
    runs: tuple[Path, ...],
    out: Path | None,
    profile: Path | None,
    source: Path | None,
    rough: bool,
    no_scan: bool,
    as_json: bool,
    force: bool,
) -> None:
    """Write "What does a fork cost?": a page to play with and to share.

    It has a slider for memory, the ways to start something in ten runtimes, and what the kernel does, to scale. Drop a
    profile on it, and it is your server. Times come from this machine's calibration; without one, a quick calibration
    is made and kept (20 s).
    """
    from clonometer.records import to_json
    from clonometer.views.documents.fork_page import fork_page_document

    if source is not None and (runs or profile or rough or no_scan):
        raise UsageError("--from takes everything from a file", "give it with --out alone")
    inputs = [*runs, *(path for path in (profile, source) if path is not None)]
    Pages(html=out).check(force=force, inputs=inputs)
    if source is not None:
        from clonometer.app.fork_page import read_fork_page

        made = read_fork_page(source)
    else:
        from clonometer.app.fork_page import fork_page
        from clonometer.cli.progress import make_progress

        made = fork_page(runs=runs, profile=profile, rough=rough, scan=not no_scan, progress=make_progress())
    page = to_json(made)
    if out is not None:
        from clonometer.views.html.fork_page import render_fork_page

        write_and_say(out, render_fork_page(page))
    print_document(fork_page_document, page, pages=Pages(), as_json=as_json)


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.prediction.fork_page import ForkPage

    return [
        JsonSchema(
            "page",
            "What the page about forks is made of: the cost model of a machine, ways to launch, measured points. "
            "Times are in nanoseconds.",
            {"page": ForkPage},
            title="clonometer page --json",
        ),
    ]
