"""``clonometer peers``: other tools in the same minute, and why they say something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.console import print_document
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

if TYPE_CHECKING:
    from clonometer.results.peers.rows import PeerRow
    from clonometer.runner.peers import Interleaved
    from clonometer.runner.run import RunOutcome

PEERS_SCHEMA = 1
PLAN = "peers"

_EXAMPLES = examples(
    "clonometer peers",
    "clonometer peers --json | jq '.rows[] | [.id, .ratio]'",
    "clonometer peers --out peers.parquet     keep our samples too",
)


@click.command(name="peers", epilog=_EXAMPLES)
@budget_option("How long to measure, at most: 30s or 2m. Default: as the plan says.")
@out_option("Keep our samples as a run file.")
@page_options
@force_option
@seed_option
@click.option("--wide", is_flag=True, help="Also show a row for each peer that is not run here.")
@json_option
def command(
    *, budget_s: float | None, out: Path | None, force: bool, seed: int, wide: bool, as_json: bool, pages: Pages
) -> int:
    """Run the other tools that are installed beside Clonometer configured like each of them.

    The same word means different things: one tool's fork ends when the call returns, another's when the child has
    been waited for. Each row shows a tool's figure and ours for the same stage, linkage, placement and statistic.
    Both are measured in turn within the same minute. The row also gives the reason for what differs.

    For tools that are not installed you see the command that installs them.
    """
    with _place(out) as path:
        peers, outcome, rows = _measure(path, budget_s, seed, force=force)
    from clonometer.views.documents.peers import peers_document

    installs = [program.install for program in peers.missing.values()]
    written = peers_to_json(rows, peers, outcome)
    print_document(peers_document, rows, installs, json=written, pages=pages, as_json=as_json, wide=wide)
    return outcome.exit_status


@contextmanager
def _place(out: Path | None) -> Iterator[Path]:
    """Where our samples go: the file that was asked for, or one that is gone afterwards."""
    if out is not None:
        yield out
        return
    from clonometer.runner.folder import temporary_folder

    with temporary_folder() as folder:
        yield folder / "peers.parquet"


def _measure(
    out: Path, budget_s: float | None, seed: int, *, force: bool
) -> tuple[Interleaved, RunOutcome, list[PeerRow]]:
    from clonometer.app.measuring import find_catalogue
    from clonometer.cli.progress import make_progress
    from clonometer.plan.planfile import load_plan
    from clonometer.results.peers.comparison import compare_peers
    from clonometer.results.schedule.scheduler import RoundsScheduler
    from clonometer.runfile import open_run
    from clonometer.runner.peers import PROGRAMS, Interleaved
    from clonometer.runner.run import run

    drivers, catalogue = find_catalogue()
    plan = load_plan(PLAN, catalogue)
    plan = plan if budget_s is None else replace(plan, budget_seconds=budget_s)
    peers = Interleaved(PROGRAMS, len(plan.targets))
    outcome = run(
        plan,
        catalogue,
        drivers,
        out=out,
        seed=seed,
        scheduler=RoundsScheduler(seed, plan.budget_seconds),
        progress=make_progress(),
        command=("clonometer", "run", "--plan", PLAN, "--seed", str(seed)),
        force=force,
        between=peers,
    )
    if outcome.path is None:
        raise KeyboardInterrupt
    with open_run(outcome.path) as measured:
        return peers, outcome, compare_peers(measured, peers.series(), peers.absent(), seed)


def peers_to_json(rows: Sequence[PeerRow], peers: Interleaved, outcome: RunOutcome) -> dict[str, Any]:
    """Gather what ``peers --json`` prints; times in ns."""
    return {
        "schema": PEERS_SCHEMA,
        "status": outcome.status,
        "rows": [_row(row) for row in rows],
        "programs": [
            {"name": program.name, "figures": list(program.figures), "installed": installed, "install": program.install}
            for installed in (False, True)
            for program in peers.programs
            if (program.name not in peers.missing) == installed
        ],
    }


def _row(row: PeerRow) -> dict[str, Any]:
    fields = asdict(row)
    return {**fields.pop("configuration"), **fields}
