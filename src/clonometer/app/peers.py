"""``peers``: other tools in the same minute, and why they say something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from clonometer.app.measuring import find_catalogue
from clonometer.app.shown import shown_as
from clonometer.plan.planfile import load_plan
from clonometer.results.peers.comparison import compare_peers
from clonometer.results.peers.rows import PeerInstallation, PeersAnswer
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.runfile import open_run
from clonometer.runner.folder import temporary_folder
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.peers import PROGRAMS, Interleaved
from clonometer.runner.run import run

__all__ = ["peers"]

PLAN = "peers"


@shown_as("peers", "peers_document")
def peers(
    *,
    budget_s: float | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress = SILENT,
) -> PeersAnswer:
    """Run the other installed tools, alternately with Clonometer configured like each of them.

    Parameters
    ----------
    budget_s
        How long to measure, in seconds, at most; by default as the plan says.
    seed
        Fixes the order.
    out
        Where our samples are kept, as a run file; by default nowhere.
    force
        Replace an existing one.
    progress
        Watches.

    Raises
    ------
    OutputError
        If the file exists, or cannot be written.
    DriverError
        If no driver can be used.
    KeyboardInterrupt
        The user has had enough before anything was measured.
    """
    drivers, catalogue = find_catalogue(progress)
    plan = load_plan(PLAN, catalogue)
    plan = plan if budget_s is None else replace(plan, budget_seconds=budget_s)
    programs = Interleaved(PROGRAMS, len(plan.targets))
    with _place(out) as path:
        outcome = run(
            plan,
            catalogue,
            drivers,
            out=path,
            seed=seed,
            scheduler=RoundsScheduler(seed, plan.budget_seconds),
            progress=progress,
            command=("clonometer", "run", "--plan", PLAN, "--seed", str(seed)),
            force=force,
            between=programs,
        )
        if outcome.path is None:
            raise KeyboardInterrupt
        with open_run(outcome.path) as measured:
            rows = compare_peers(measured, programs.series(), programs.absent(), seed)
    installations = [
        PeerInstallation(program.name, list(program.figures), installed, program.install)
        for installed in (False, True)
        for program in programs.programs
        if (program.name not in programs.missing) == installed
    ]
    return PeersAnswer(outcome.status, rows, installations, outcome.exit_status)


@contextmanager
def _place(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Where our samples go: the file that was asked for, or one that is gone afterwards."""
    if out is not None:
        yield Path(out)
        return
    with temporary_folder() as folder:
        yield folder / "peers.parquet"
