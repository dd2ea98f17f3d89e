"""Measuring for commands that need new runs: drivers, catalogue, a short run, and a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clonometer.errors import EXIT_INTERRUPTED
from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.results.audit.types import DriverState
    from clonometer.runfile import Run
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.interfaces import LaunchHooks, Scheduler
    from clonometer.runner.run import RunOutcome


def find_catalogue(progress: Progress = SILENT, names: Sequence[str] = ()) -> tuple[Drivers, Catalogue]:
    """Find the drivers and what they can measure; ``progress`` says which are left out, and why.

    ``names`` are ids of workloads or globs of them. Drivers of languages are looked for, and built, only where one of
    them may mean their workloads.

    Raises
    ------
    DriverError
        If no driver can be used.
    """
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.runner.drivers import find_drivers
    from clonometer.runner.languages.building import usable_drivers
    from clonometer.runner.languages.toolchains import find_languages, wanted_languages

    # Most commands ask for none.
    languages = wanted_languages(names, find_languages()) if any("." in name for name in names) else ()
    further, lacks = usable_drivers(languages, progress.say, names)
    for lack in lacks:
        progress.say(f"clonometer: {lack['what']} is not measured: {lack['reason']}")
    drivers = find_drivers(further=further)
    for name, reason in drivers.broken.items():
        progress.say(f"clonometer: driver {name} is left out: {reason}")
    lacks += [
        {"what": each.name, "reason": drivers.broken[each.name]} for each in further if each.name in drivers.broken
    ]
    return drivers, read_catalogue(drivers.descriptions, lacks)


def say_lacking(plan: Plan, settings: Iterable[str], progress: Progress) -> None:
    """Say which workloads of a plan do not have an axis that was set."""
    from clonometer.plan.adhoc import lacking

    for axis, workloads in lacking(plan, settings).items():
        has, are = ("has", "is") if len(workloads) == 1 else ("have", "are")
        progress.say(f"clonometer: {', '.join(workloads)} {has} no {axis} and {are} measured without it")


def driver_states(drivers: Drivers) -> list[DriverState]:
    """Say which drivers there are, and of those that cannot be used why."""
    from clonometer.results.audit.types import DriverState

    return [
        *(DriverState(driver.name, driver.linkage, None) for driver in drivers.usable),
        *(DriverState(name, None, reason) for name, reason in drivers.broken.items()),
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
    progress: Progress = SILENT,
    hooks: LaunchHooks | None = None,
) -> Iterator[tuple[Run, RunOutcome]]:
    """Measure a plan into a file ``name`` that is gone afterwards.

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
            progress=progress,
            hooks=hooks,
        )
        if outcome.path is None or outcome.exit_status == EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        with open_run(outcome.path) as measured:
            yield measured, outcome
