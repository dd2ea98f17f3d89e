"""Measuring for commands that need new runs: drivers, catalogue, and one run of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.runfile import Run
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.interfaces import Scheduler
    from clonometer.runner.run import RunOutcome


def find_catalogue() -> tuple[Drivers, Catalogue]:
    """Find the drivers and what they can measure; those that are left out are said on standard error.

    Raises
    ------
    DriverError
        If no driver can be used.
    """
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.runner.drivers import find_drivers

    drivers = find_drivers()
    for name, reason in drivers.broken.items():
        click.echo(f"clonometer: driver {name} is left out: {reason}", err=True)
    return drivers, read_catalogue(drivers.descriptions)


def measure_plan(
    plan: Plan,
    catalogue: Catalogue,
    drivers: Drivers,
    *,
    out: Path,
    seed: int,
    scheduler: Scheduler,
    command: Sequence[str],
) -> RunOutcome:
    """Measure a plan into ``out``, with progress on standard error."""
    from clonometer.cli.progress import make_progress
    from clonometer.runner.run import run

    return run(
        plan,
        catalogue,
        drivers,
        out=out,
        seed=seed,
        scheduler=scheduler,
        progress=make_progress(),
        command=command,
    )


@contextmanager
def briefly_measured(
    plan: Plan, catalogue: Catalogue, drivers: Drivers, *, seed: int, command: Sequence[str]
) -> Iterator[tuple[Run | None, RunOutcome]]:
    """Measure a plan in rounds, into a file that is gone afterwards, with progress on standard error.

    Yields
    ------
    run, outcome
        What was measured, open meanwhile; None where nothing was.
    """
    from clonometer.results.schedule.scheduler import RoundsScheduler
    from clonometer.runfile import open_run
    from clonometer.runner.folder import temporary_folder

    with temporary_folder() as folder:
        scheduler = RoundsScheduler(seed, plan.budget_seconds)
        out = folder / "brief.parquet"
        outcome = measure_plan(plan, catalogue, drivers, out=out, seed=seed, scheduler=scheduler, command=command)
        if outcome.path is None:
            yield None, outcome
            return
        with open_run(outcome.path) as run:
            yield run, outcome


def draw_seed() -> int:
    """Draw a seed for the order of a run."""
    import secrets

    return secrets.randbelow(2**31)
