"""Measuring for commands that need new runs: drivers, catalogue, a short run, and a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.errors import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.runfile import Run
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.interfaces import Scheduler
    from clonometer.runner.run import RunOutcome


def find_catalogue(*, quiet: bool = False) -> tuple[Drivers, Catalogue]:
    """Find the drivers and what they can measure; unless ``quiet`` those that are left out are said on standard error.

    Raises
    ------
    DriverError
        If no driver can be used.
    """
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.runner.drivers import find_drivers

    drivers = find_drivers()
    for name, reason in () if quiet else drivers.broken.items():
        click.echo(f"clonometer: driver {name} is left out: {reason}", err=True)
    return drivers, read_catalogue(drivers.descriptions)


def say_lacking(plan: Plan, settings: Iterable[str]) -> None:
    """Say which workloads of a plan do not have an axis that was set."""
    from clonometer.plan.adhoc import lacking

    for axis, workloads in lacking(plan, settings).items():
        has, are = ("has", "is") if len(workloads) == 1 else ("have", "are")
        click.echo(f"clonometer: {', '.join(workloads)} {has} no {axis} and {are} measured without it", err=True)


def drivers_to_json(drivers: Drivers) -> list[dict[str, str | None]]:
    """Say as JSON which drivers there are, and of those that cannot be used why."""
    return [
        *({"name": driver.name, "linkage": driver.linkage, "reason": None} for driver in drivers.usable),
        *({"name": name, "linkage": None, "reason": reason} for name, reason in drivers.broken.items()),
    ]


@contextmanager
def briefly_measured(
    plan: Plan,
    catalogue: Catalogue,
    drivers: Drivers,
    *,
    seed: int,
    scheduler: Scheduler | None = None,
    name: str = "brief",
    quiet: bool = False,
) -> Iterator[tuple[Run, RunOutcome]]:
    """Measure a plan into a file ``name`` that is gone afterwards, with progress on standard error unless ``quiet``.

    Without a ``scheduler`` it is measured in rounds.

    Yields
    ------
    run, outcome
        What was measured, open meanwhile.

    Raises
    ------
    KeyboardInterrupt
        The user has had enough.
    """
    from clonometer.cli.progress import make_progress
    from clonometer.results.schedule.scheduler import RoundsScheduler
    from clonometer.runfile import open_run
    from clonometer.runner.folder import temporary_folder
    from clonometer.runner.run import run

    with temporary_folder() as folder:
        outcome = run(
            plan,
            catalogue,
            drivers,
            out=folder / f"{name}.parquet",
            seed=seed,
            scheduler=scheduler or RoundsScheduler(seed, plan.budget_seconds),
            progress=None if quiet else make_progress(),
        )
        if outcome.path is None or outcome.exit_status == EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        with open_run(outcome.path) as measured:
            yield measured, outcome


def draw_seed() -> int:
    """Draw a seed for the order of a run."""
    import secrets

    return secrets.randbelow(2**31)
