"""What the sides of a comparison are started in: their drivers, their variables, and settings that commands switch."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clonometer.errors import DriverError, UsageError
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.sides import SIDE, Side
from clonometer.plan.types import Catalogue, Plan
from clonometer.runner.drivers import LINKAGE, Driver, Drivers, find_drivers
from clonometer.runner.environment import fixed_variables, room_for
from clonometer.runner.interfaces import LaunchHooks, Start
from clonometer.runner.settings import SettingRecord, Switch, as_metadata, check_syntax

#: Of a run's metadata: what sides switched (docs/runfile.md).
SETTINGS = "settings"


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
    """Refuse now a command that the shell could not read later.

    Raises
    ------
    UsageError
        If its syntax is wrong.
    """
    for side in sides:
        check_syntax(side)


class SideSwitches:
    """Switches the settings of sides where the side changes; at most one side's are switched at a time."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._switches = {side.name: Switch(side) for side in sides if side.do}
        self._side: Side | None = None
        self._switched: Switch | None = None

    def turn_to(self, side: Side, interrupt_fd: int | None) -> None:
        """Put back what the other side has switched, and switch what this one does.

        Raises
        ------
        SettingError
            If a command fails, or switches nothing.
        """
        if side is self._side:
            return
        self.end()
        self._side = side
        switch = self._switches.get(side.name)
        if switch is not None:
            # Noted first: what has failed half way must be put back, too.
            self._switched = switch
            switch.do(interrupt_fd)

    def end(self) -> None:
        """Put back what is switched.

        Raises
        ------
        SettingError
            If that fails: it says how to do it by hand.
        """
        switch, self._switched, self._side = self._switched, None, None
        if switch is not None:
            switch.undo()

    @property
    def records(self) -> list[SettingRecord]:
        """What was switched, as it was read back."""
        return [record for switch in self._switches.values() for record in switch.records.values()]


class SideHooks(LaunchHooks):
    """Starts the processes of each side in what it says; settings are switched where the side changes.

    ``pair_of`` gives the number of the pair that a process of a target, by its index, belongs to.
    """

    def __init__(self, plan: Plan, sides: Sequence[Side], pair_of: Callable[[int], int]) -> None:
        by_name = {side.name: side for side in sides}
        self._sides = [by_name[str(target.condition[SIDE])] for target in plan.targets]
        self._pair_of = pair_of
        # What a variable does must not be told from how long it is: both sides get environments of one size.
        self._room = max(room_for({**fixed_variables(), **side.environment}) for side in sides)
        self._switches = SideSwitches(sides)

    def before(self, target: int, interrupt_fd: int | None, /) -> Start:
        """Switch to the side of a target.

        Raises
        ------
        SettingError
            If a command fails, or switches nothing.
        """
        side = self._sides[target]
        self._switches.turn_to(side, interrupt_fd)
        return Start(side.environment, self._pair_of(target), self._room)

    def end(self) -> None:
        """Put back what is switched.

        Raises
        ------
        SettingError
            If that fails: it says how to do it by hand.
        """
        self._switches.end()

    def described(self) -> Mapping[str, Any]:
        """What was switched, as it was read back."""
        records = [as_metadata(record) for record in self._switches.records]
        return {SETTINGS: records} if records else {}
