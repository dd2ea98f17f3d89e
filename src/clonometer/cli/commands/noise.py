"""``clonometer noise``: this machine against itself."""

from __future__ import annotations

import rich_click as click

from clonometer.cli.completing import complete_plans
from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    drawn_seed_option,
    examples,
    json_option,
    number_option,
    only_option,
    page_options,
    share_option,
    time_option,
)
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_INTERRUPTED

#: Its place in the list of commands.
ORDER = 70

_EXAMPLES = examples(
    "clonometer noise                       about a minute and a half",
    "clonometer noise --rounds 20           a better estimate of the false alarms",
    "clonometer noise --plan default --rounds 1",
    "clonometer noise --only 'launch.fork*' --rounds 1 --layout 60s",
    "clonometer noise --rounds 5 --json > noise.json",
    "clonometer noise --json | jq '.rows[] | [.cell, .stage, .detectable_change]'",
)


@click.command(name="noise", epilog=_EXAMPLES)
@click.option(
    "--plan",
    metavar="NAME|FILE",
    default="quick",
    show_default=True,
    shell_complete=complete_plans,
    help="What to measure.",
)
@only_option
@number_option("--rounds", "rounds", "Number of rounds; each takes twice the plan's time.", 3)
@share_option("--max-regression", "max_regression", "5%", "The largest slowdown allowed, as in 'clonometer check'.")
@time_option(
    "--layout",
    "layout_s",
    "Then measure for this long how much of the scatter between processes comes from memory layout, which is random "
    "in each.",
)
@drawn_seed_option("Fixes the order of measuring.")
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every stage.")
def command(
    *,
    plan: str,
    globs: tuple[str, ...],
    rounds: int,
    max_regression: float,
    layout_s: float | None,
    seed: int,
    as_json: bool,
    wide: bool,
    pages: Pages,
) -> int:
    """Measure the noise of this machine: compare a plan with itself.

    It prints the smallest slowdown that 'clonometer check' would detect in each cell, and how often the check
    raised an alarm although nothing had changed. It writes no run file.
    """
    from clonometer.app.noise import measure
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.noise import noise_document

    try:
        noise, status = measure(
            plan,
            globs,
            rounds=rounds,
            max_regression=max_regression,
            layout_s=layout_s,
            seed=seed,
            progress=make_progress(),
        )
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted before one round was measured", err=True)
        return EXIT_INTERRUPTED
    print_document(noise_document, noise, pages=pages, as_json=as_json, wide=wide)
    return status


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.noise.types import Noise

    return [
        JsonSchema(
            "noise",
            "A machine compared with itself: false alarms of a check, and what it would detect. Shares are fractions "
            "of 1.",
            {"noise": Noise},
            title="clonometer noise --json",
        ),
    ]
