"""``clonometer advise``: which design a server should have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, examples, json_option, number_option, page_options
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_INTERRUPTED

#: Its place in the list of commands.
ORDER = 185
#: How long the best two designs are run.
PROOF_S = 20.0

_EXAMPLES = examples(
    "clonometer advise --rate 2000 --work 200us",
    "clonometer advise --rate 50 --work 2ms --memory 500MiB --isolation crash",
    "clonometer advise --rate 50 --work 2ms --limit p99=20ms --html advice.html",
    "clonometer advise --file server.toml --prove",
)


@click.command(name="advise", epilog=_EXAMPLES)
@click.option("--rate", metavar="N", help="Requests a second, which come at random.")
@click.option("--work", metavar="TIME", help="CPU time of a request's work: 200us, 5ms.  [default: 0]")
@click.option("--block", metavar="TIME", help="How long it waits besides, without CPU.  [default: 0]")
@click.option("--request", metavar="SIZE", help="What the client sends.  [default: 128]")
@click.option("--response", metavar="SIZE", help="What the server answers.  [default: 1KiB]")
@click.option("--memory", metavar="SIZE", help="Memory of the server's first process.  [default: 0]")
@click.option("--written", metavar="SIZE", help="How much of that a request writes to.  [default: 0]")
@click.option(
    "--isolation",
    metavar="KIND",
    type=click.Choice(["none", "crash", "memory", "privileges"]),
    help="none, crash, memory or privileges: what requests are to be separated by.  [default: none]",
)
@click.option("--language", metavar="NAME", help="Of the server's code.  [default: c]")
@click.option("--limit", metavar="pN=TIME", help="A limit of latency, such as p99=5ms.")
@number_option("--cpus", "cpus", "CPUs of the server.  [default: all]")
@number_option("--workers", "workers", "Tasks of a pool.  [default: by the load]", most=512)
@click.option(
    "--connections",
    metavar="KIND",
    type=click.Choice(["per-request", "kept"]),
    help="per-request or kept.  [default: per-request]",
)
@click.option("--transport", metavar="KIND", type=click.Choice(["tcp", "unix"]), help="tcp or unix.  [default: tcp]")
@click.option("--file", "wish_file", metavar="FILE", type=FILE, help="TOML with the same names; options override it.")
@click.option(
    "--by",
    "order",
    metavar="WHAT",
    type=click.Choice(["p50", "p99", "cpu", "memory"]),
    default="p50",
    show_default=True,
    help="Rank by p50, p99, cpu or memory.",
)
@click.option("--prove", is_flag=True, help="Run the best two designs in turn, and compare: 20 s.")
@click.option("--measure", "anew", is_flag=True, help="Measure this machine again: about 40 s.")
@number_option("--seed", "seed", "Fixes what is drawn.", 1, least=0)
@click.option("--wide", is_flag=True, help="Show what each request costs, and all assumptions.")
@json_option
@page_options
def command(
    *,
    wish_file: Path | None,
    order: str,
    prove: bool,
    anew: bool,
    seed: int,
    wide: bool,
    as_json: bool,
    pages: Pages,
    **given: Any,
) -> int:
    """Say which design a server should have: a process or thread for each request, a pool, an event loop.

    Costs come from this machine's measurements, and latencies from a simulated queue. The first call measures for
    about 40 s. docs/advise.md says what is assumed.
    """
    from clonometer.app.advise import advise, make_wish, read_wish_file, wish_fields
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.advise import advice_document

    fields = {} if wish_file is None else read_wish_file(wish_file)
    fields |= wish_fields({key: value for key, value in given.items() if value is not None}, "the options")
    wish = make_wish(fields)
    try:
        answer = advise(
            wish, order=order, prove_s=PROOF_S if prove else None, anew=anew, seed=seed, progress=make_progress()
        )
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted before the answer", err=True)
        return EXIT_INTERRUPTED
    print_document(advice_document, answer, pages=pages, as_json=as_json, wide=wide)
    return 0


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.advice.answer import Advice

    return [
        JsonSchema(
            "advise",
            "Designs of a server, ranked for a load by this machine's measurements. Times are in nanoseconds; low and "
            "high are the ends of 95% intervals.",
            {"advice": Advice},
            title="clonometer advise --json",
        ),
    ]
