"""``clonometer advise``: which design a server should have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, PROCESS_ID, examples, json_option, number_option, page_options, time_option
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_INTERRUPTED, UsageError

#: Its place in the list of commands.
ORDER = 185
#: How long the best two designs are run.
PROOF_S = 20.0
_MOST_FAULTS = 10_000_000

_EXAMPLES = examples(
    "clonometer advise --rate 2000 --work 200us",
    "clonometer advise --rate 50 --work 2ms --memory 500MiB --child-faults 700",
    "clonometer advise --file server.toml --prove",
    "clonometer advise --pid 4711 --isolation crash      a server under load",
)


@click.command(name="advise", epilog=_EXAMPLES)
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--rate", metavar="N", help="Requests a second, which come at random.")
@click.option("--work", metavar="TIME", help="CPU time of a request: 200us.  [default: 0]")
@click.option("--block", metavar="TIME", help="How long it waits besides.  [default: 0]")
@click.option("--request", metavar="SIZE", help="What the client sends.  [default: 128]")
@click.option("--response", metavar="SIZE", help="What the server answers.  [default: 1KiB]")
@click.option("--memory", metavar="SIZE", help="Memory of the server.  [default: 0]")
@click.option("--written", metavar="SIZE", help="What a request writes of it.  [default: 0]")
@click.option("--child-start", metavar="TIME", help="CPU time of a new process for itself.")
@number_option("--child-faults", "child_faults", "Page faults of a new process.", least=0, most=_MOST_FAULTS)
@number_option("--parent-faults", "parent_faults", "Pages it copies after a fork.", least=0, most=_MOST_FAULTS)
@click.option("--fork-call", metavar="TIME", hidden=True, help="What a fork takes it, until it goes on.")
@click.option("--child-launch", type=click.Choice(["fork", "spawn"]), hidden=True, help="How it makes processes.")
@click.option(
    "--isolation",
    metavar="KIND",
    type=click.Choice(["none", "crash", "memory", "privileges"]),
    help="none (usual), crash, memory or privileges.",
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
@click.option("--pid", metavar="PID", type=PROCESS_ID, help="Observe a running server.")
@click.option("--census", "takes_census", is_flag=True, help="Run COMMAND, and observe it in the same way.")
@time_option("--for", "watch_s", "How long to observe.", default="5s")
@click.option(
    "--by",
    "order",
    metavar="WHAT",
    type=click.Choice(["p50", "p99", "cpu", "memory"]),
    default="p50",
    show_default=True,
    help="p50, p99, cpu or memory.",
)
@click.option("--prove", is_flag=True, help="Run the best two in turn, and compare: 20 s.")
@click.option("--measure", "anew", is_flag=True, help="Measure this machine again: about a minute.")
@number_option("--seed", "seed", "Fixes what is drawn.", 1, least=0)
@click.option("--wide", is_flag=True, help="Show costs of a request, and assumptions.")
@json_option
@page_options
def command(
    *,
    words: tuple[str, ...],
    wish_file: Path | None,
    pid: int | None,
    takes_census: bool,
    watch_s: float,
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

    Costs come from this machine's measurements (the first call takes a minute), latencies from a simulated queue.
    docs/advise.md says what is assumed.
    """
    from clonometer.app.advise import advise, make_wish, read_wish_file, wish_fields
    from clonometer.app.observing import Observed, observe
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.advise import advice_document

    fields = {} if wish_file is None else read_wish_file(wish_file)
    fields |= wish_fields({key: value for key, value in given.items() if value is not None}, "the options")
    _check_observed(words, pid, takes_census=takes_census)
    progress = make_progress()
    try:
        seen = Observed()
        if pid is not None or words:
            seen = observe(pid=pid, command=words, seconds=watch_s, given=list(fields), progress=progress)
        wish = make_wish({**seen.fields, **fields})
        answer = advise(
            wish,
            order=order,
            prove_s=PROOF_S if prove else None,
            observed=seen.texts,
            known=[*seen.fields, *fields],
            seen=[name for name in seen.fields if name not in fields],
            anew=anew,
            seed=seed,
            progress=progress,
        )
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted before the answer", err=True)
        return EXIT_INTERRUPTED
    print_document(advice_document, answer, pages=pages, as_json=as_json, wide=wide)
    return 0


def _check_observed(words: tuple[str, ...], pid: int | None, *, takes_census: bool) -> None:
    """Refuse two servers at once, and a command of which nobody said what it is for."""
    if words and not takes_census:
        raise UsageError(f"unexpected argument {words[0]!r}", "to observe a command: --census -- COMMAND")
    if takes_census and not words:
        raise UsageError("--census observes a command, and none is given", "clonometer advise --census -- COMMAND")
    if takes_census and pid is not None:
        raise UsageError("--census starts a command, and --pid observes one that runs", "give only one of them")


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
