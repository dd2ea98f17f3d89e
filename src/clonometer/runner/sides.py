"""What the sides of a comparison are started in: their drivers, their variables, and settings that commands switch."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace

from clonometer.errors import DriverError, SettingError, UsageError
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.sides import SIDE, Side
from clonometer.plan.types import Catalogue, Plan
from clonometer.runner.drivers import LINKAGE, Driver, Drivers, find_drivers
from clonometer.runner.interfaces import Start, Starts
from clonometer.runner.process import supervise

#: A setting is one write to the kernel; what takes longer hangs.
COMMAND_TIMEOUT_S = 30.0


def with_drivers(
    drivers: Drivers, catalogue: Catalogue, sides: tuple[Side, Side]
) -> tuple[Drivers, Catalogue, tuple[Side, Side]]:
    """Find the drivers that sides name, and let each describe itself.

    Gives the drivers with them, the catalogue with the workloads that only they have, and the sides, each with the
    linkage that its driver says it has.

    Raises
    ------
    UsageError
        If one cannot be used, or has another linkage than its side asks for.
    """
    of_sides = {side.name: _driver_of(side) for side in sides if side.driver}
    for driver in of_sides.values():
        catalogue = _with_workloads(catalogue, driver)
    a, b = (_with_linkage(side, of_sides.get(side.name), catalogue) for side in sides)
    return replace(drivers, of_sides=of_sides), catalogue, (a, b)


def _driver_of(side: Side) -> Driver:
    try:
        return find_drivers([side.driver]).usable[0]
    except DriverError as error:
        raise UsageError(f"--{side.name} driver={shlex.join(side.driver)}: {error.message}") from error


def _with_workloads(catalogue: Catalogue, driver: Driver) -> Catalogue:
    described = read_catalogue([driver.description]).raw["workloads"]
    further = [entry for entry in described if entry["id"] not in catalogue.workloads]
    if not further:
        return catalogue
    return read_catalogue([catalogue.raw, {**driver.description, "workloads": further, "lacks": []}])


def _with_linkage(side: Side, driver: Driver | None, catalogue: Catalogue) -> Side:
    """What is measured has the linkage of its driver, whatever the default is."""
    axis = catalogue.axes.get(LINKAGE)
    if driver is None or axis is None or driver.linkage not in axis.values:
        return side
    asked = side.axes.get(LINKAGE, driver.linkage)
    if asked != driver.linkage:
        raise UsageError(f"the driver of --{side.name} says linkage={driver.linkage}, not {asked}")
    return replace(side, axes={**side.axes, LINKAGE: driver.linkage})


def check_commands(sides: Sequence[Side]) -> None:
    """Refuse now a command that could not be started later.

    Raises
    ------
    UsageError
        If there is no such program.
    """
    for side in sides:
        for key, words in (("do", side.do), ("undo", side.undo)):
            if words and shutil.which(words[0]) is None:
                raise UsageError(f"--{side.name} {key}={shlex.join(words)}: there is no program {words[0]}")


class SideStarts(Starts):
    """Starts the processes of each side in what it says; settings are switched where the side changes.

    ``pair_of`` gives the number of the pair that a process of a target, by its index, belongs to.
    """

    def __init__(self, plan: Plan, sides: Sequence[Side], pair_of: Callable[[int], int]) -> None:
        by_name = {side.name: side for side in sides}
        self._sides = [by_name[str(target.condition[SIDE])] for target in plan.targets]
        self._pair_of = pair_of
        self._switched: Side | None = None

    def before(self, target: int, interrupt_fd: int | None, /) -> Start:
        """Switch to the side of a target.

        Raises
        ------
        SettingError
            If a command fails.
        """
        side = self._sides[target]
        if side is not self._switched:
            self.end()
            if side.do:
                # Noted first: what has failed half way must be put back, too.
                self._switched = side
                _call(side, "do", side.do, interrupt_fd)
        return Start(side.environment, self._pair_of(target))

    def end(self) -> None:
        """Put back what is switched.

        Raises
        ------
        SettingError
            If the command fails: it says how to do it by hand.
        """
        side, self._switched = self._switched, None
        if side is not None:
            # Who wants to stop waits for this.
            _call(side, "undo", side.undo, None)


def _call(side: Side, key: str, words: tuple[str, ...], interrupt_fd: int | None) -> None:
    whole = f"--{side.name} {key}={shlex.join(words)}"
    left = f"; the setting may still be in force, to put it back: {shlex.join(words)}" if key == "undo" else ""
    try:
        ending = supervise(words, lambda _: True, timeout_s=COMMAND_TIMEOUT_S, interrupt_fd=interrupt_fd)
    except DriverError as error:
        raise SettingError(f"{whole}: {error.message}{left}") from error
    if ending.stopped == "interrupt":
        return
    if ending.exit_status != 0:
        raise SettingError(f"{whole} {ending.in_full}{left}")
