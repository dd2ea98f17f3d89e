"""``clonometer peers``: other tools in the same minute, and why they say something else."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    budget_option,
    examples,
    force_option,
    json_option,
    out_option,
    page_options,
    seed_option,
)
from clonometer.cli.outputs import Pages

#: Its place in the list of commands.
ORDER = 150

_EXAMPLES = examples(
    "clonometer peers",
    "clonometer peers --json | jq '.rows[] | [.id, .ratio]'",
    "clonometer peers --out peers.parquet     keep the samples too",
)


@click.command(name="peers", epilog=_EXAMPLES)
@budget_option("Measure for at most this long: 30s or 2m. Default: as the plan says.")
@out_option("Keep Clonometer's samples as a run file.")
@page_options
@force_option
@seed_option
@click.option("--wide", is_flag=True, help="Also show a row for each peer that is not run here.")
@json_option
def command(
    *, budget_s: float | None, out: Path | None, force: bool, seed: int, wide: bool, as_json: bool, pages: Pages
) -> int:
    """Run the other tools that are installed, and Clonometer configured like each of them.

    The same word means different things: one tool's fork ends when the call returns, another's when the child has
    been waited for. Each row shows a tool's figure and Clonometer's for the same stage, linkage, placement and
    statistic. Both are measured alternately within the same minute. The row also explains any difference.

    For tools that are not installed, it shows the command that installs them.
    """
    from clonometer.app.peers import peers
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.peers import peers_document

    answer = peers(budget_s=budget_s, seed=seed, out=out, force=force, progress=make_progress())
    print_document(peers_document, answer, pages=pages, as_json=as_json, wide=wide)
    return answer.exit_status


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.peers.rows import PeersAnswer

    return [
        JsonSchema(
            "peers",
            "Peers beside Clonometer configured like them. Times are in nanoseconds; rows may be added.",
            {"peers": PeersAnswer},
            title="clonometer peers --json",
        )
    ]
