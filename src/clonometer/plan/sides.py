"""Two sides that are measured in turn: what ``--a`` and ``--b`` say, and the plan that has every target twice.

A side is an axis (``side=a``, ``side=b``) of every cell: what it changes may be no axis, such as a variable of the
environment, and the two must be told apart in the run file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clonometer.errors import PlanError, UsageError, unknown
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.cell import AxisValue
from clonometer.plan.expand import meaningful, with_condition
from clonometer.plan.limits import limits_for, sparing
from clonometer.plan.types import Catalogue, Plan, Target
from clonometer.plan.values import read_value

SIDE = "side"
SIDES = ("a", "b")
#: Of a side that is a workload: its setting.
WORKLOAD = "workload"
_NEITHER = "neither"
_ENVIRONMENT = "env:"
_COMMANDS = ("driver", "do", "undo")
_OF_COMMANDS = ("do", "undo")
#: How two commands are compared.
TWO_COMMANDS = "clonometer ab -- COMMAND_A -- COMMAND_B"
#: What is said of sides that are the same.
NO_DIFFERENCE = "the two sides do not differ"
WHAT_DIFFERS = f"--b KEY=VALUE, as in --b linkage=dynamic_lazy; two workloads; or two commands: {TWO_COMMANDS}"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Side:
    """What a side changes.

    Attributes
    ----------
    name
        ``a`` or ``b``.
    workload
        What it measures, where the other side measures another one; else empty.
    settings
        The texts ``KEY=VALUE`` as they were written.
    axes
        Axis -> its value.
    environment
        Variables that its drivers, and what they start, have besides.
    driver
        The command of the driver that measures it; empty: the usual one.
    do, undo
        The commands, for ``sh -c``, that switch a setting of the machine before its processes and put it back
        afterwards; empty: none.
    """

    name: str
    settings: tuple[str, ...] = ()
    workload: str = ""
    axes: Mapping[str, AxisValue] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    driver: tuple[str, ...] = ()
    do: str = ""
    undo: str = ""

    @property
    def besides_axes(self) -> tuple[object, ...]:
        """What it changes that is no axis."""
        return self.workload, dict(self.environment), self.driver, self.do


def read_side(name: str, settings: Sequence[str], catalogue: Catalogue | None) -> Side:
    """Read the texts ``KEY=VALUE`` of one side.

    KEY is an axis of the catalogue, ``env:NAME``, ``driver``, ``do`` or ``undo``. The command of a driver is split into
    words as a shell would do it, and nothing else of a shell is done; a shell runs do and undo. The side's name is
    ``a`` or ``b``. Without a catalogue it is a command of the user's own, which has neither axes nor a driver.

    Raises
    ------
    UsageError
        For a text that is not a setting, an unknown key or value, a key that comes twice, or ``do`` without ``undo``.

    Examples
    --------
    >>> side = read_side("b", ["env:LANG=C", "do=sysctl -w a=1", "undo=sysctl -w a=0"], read_catalogue([]))
    >>> dict(side.environment), side.do
    ({'LANG': 'C'}, 'sysctl -w a=1')
    """
    option = f"--{name}"
    axes: dict[str, AxisValue] = {}
    environment: dict[str, str] = {}
    commands: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(f"{option} {setting!r} is not a setting", f"a setting looks like {option} linkage=static")
        if key in (*axes, *commands) or key.removeprefix(_ENVIRONMENT) in environment:
            raise UsageError(f"{option} has {key} twice")
        if key.startswith(_ENVIRONMENT):
            environment[_variable(key, option)] = value
        elif catalogue is None and key not in _OF_COMMANDS:
            raise UsageError(
                f"{option} {setting}: a command of your own has no {key}",
                f"its keys are env:NAME, do and undo: {option} env:NAME=VALUE",
            )
        elif key in _COMMANDS:
            words = _words(key, value, option)
            commands[key] = words if key == "driver" else value
        elif catalogue is not None:
            axes[key] = _axis_value(key, value.strip(), catalogue, option)
    if ("do" in commands) != ("undo" in commands):
        given, missing = ("do", "undo") if "do" in commands else ("undo", "do")
        raise UsageError(
            f"{option} has {given} without {missing}", "do changes a setting, and undo restores it: both are needed"
        )
    return Side(name, tuple(settings), axes=axes, environment=environment, **commands)


def sides_of_workloads(plan: Plan) -> tuple[Side, Side]:
    """Make a side of each of the two workloads of a plan, in its order.

    Raises
    ------
    UsageError
        If it has one, or more than two.
    """
    names = list(dict.fromkeys(target.workload for target in plan.targets))
    if len(names) != len(SIDES):
        several = f"{len(names)} workloads are named; without --a and --b they are the two sides"
        raise UsageError(several if names[1:] else NO_DIFFERENCE, WHAT_DIFFERS)
    a, b = (Side(side, (f"{WORKLOAD}={name}",), name) for side, name in zip(SIDES, names, strict=True))
    return a, b


def _variable(key: str, option: str) -> str:
    variable = key.removeprefix(_ENVIRONMENT)
    if not _VARIABLE.fullmatch(variable):
        raise UsageError(
            f"{option} {key}: {variable!r} is not the name of a variable", "for example env:GLIBC_TUNABLES=..."
        )
    return variable


def _words(key: str, value: str, option: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(value)) if key == "driver" else (value.strip(),)
    except ValueError as error:
        raise UsageError(f"{option} {key}={value}: {str(error).lower()}") from None
    if not any(words):
        raise UsageError(f"{option} {key} needs a command")
    return words


def _axis_value(key: str, value: str, catalogue: Catalogue, option: str) -> AxisValue:
    if key == "temperature":
        raise UsageError(
            f"{option} {key}={value}: cold and warm launches are always measured and compared separately",
            "--set temperature=warm measures warm ones only",
        )
    if key not in catalogue.axes:
        near = unknown(f"key of {option}", key, [*catalogue.axes, "env:NAME", *_COMMANDS])
        raise UsageError(near.message, "keys are env:NAME, driver, do and undo, and each axis of 'clonometer list'")
    return read_value(catalogue.axes[key], value)


def with_side_axis(catalogue: Catalogue) -> Catalogue:
    """The same catalogue in which each workload has the axis of its side."""
    raw = dict(catalogue.raw)
    about = {
        "type": "choice",
        "default": _NEITHER,
        "values": [_NEITHER, *SIDES],
        "summary": "which side of a comparison it is",
    }
    raw["axes"] = {**raw["axes"], SIDE: about}
    raw["workloads"] = [{**entry, "axes": [*entry["axes"], SIDE]} for entry in raw["workloads"]]
    return read_catalogue([raw])


def plan_of_sides(plan: Plan, sides: tuple[Side, Side], catalogue: Catalogue, *, strict: bool) -> Plan:
    """Make a plan with each target twice, A before B; of two workloads with those of both that are alike otherwise.

    Its targets come in pairs with the same temperatures and limits. An axis that only one side sets is as in the plan
    on the other. The catalogue has the axis `SIDE` (`with_side_axis`). ``strict``: each target must have the axes that
    a side sets; otherwise those that do not are left out.

    Raises
    ------
    UsageError
        If the sides do not differ, or nothing is left that both can measure.
    """
    wanted = {name for side in sides for name in side.axes}
    pairs: dict[str, tuple[Target, Target]] = {}
    reason = None
    for targets in _partners(plan, sides):
        lacking = sorted(wanted - targets[0].condition.keys())
        if lacking:
            reason = f"{targets[0].workload} does not have the axis {lacking[0]}"
            if strict:
                had = ", ".join(sorted(targets[0].condition))
                raise PlanError(reason, f"the axes it has: {had or 'none'}")
            continue
        conditions = [{**each.condition, **side.axes} for each, side in zip(targets, sides, strict=True)]
        left, why = meaningful(targets[0], conditions)
        left = [temperature for temperature in left if temperature in meaningful(targets[1], conditions)[0]]
        if left:
            pair = _pair(targets, sides, left, catalogue)
            pairs.setdefault(" ".join(member.cells[0].text for member in pair), pair)
        else:
            reason = why or f"{' and '.join(each.workload for each in targets)} have no launches in common"
    if not pairs:
        raise UsageError(f"there is nothing that both sides can measure: {reason or 'the plan is empty'}")
    kept = [pair for pair in pairs.values() if _differ(pair, sides)]
    if not kept:
        raise UsageError(NO_DIFFERENCE, WHAT_DIFFERS)
    return replace(plan, targets=tuple(target for pair in kept for target in pair))


def _partners(plan: Plan, sides: tuple[Side, Side]) -> list[tuple[Target, Target]]:
    """Find what each side measures of a plan; an axis that only one of two workloads has is no difference."""
    if not sides[0].workload:
        return [(target, target) for target in plan.targets]
    firsts, seconds = ([target for target in plan.targets if target.workload == side.workload] for side in sides)
    return [
        (first, second)
        for first in firsts
        for second in seconds
        if all(second.condition.get(axis, value) == value for axis, value in first.condition.items())
    ]


def _pair(
    targets: tuple[Target, Target], sides: tuple[Side, Side], temperatures: Sequence[str | None], catalogue: Catalogue
) -> tuple[Target, Target]:
    conditions = [
        {**target.condition, **side.axes, SIDE: side.name} for target, side in zip(targets, sides, strict=True)
    ]
    limits = sparing(
        *(limits_for(condition, target.limits) for condition, target in zip(conditions, targets, strict=True))
    )
    first, second = (
        with_condition(target, condition, temperatures, catalogue, limits=limits)
        for condition, target in zip(conditions, targets, strict=True)
    )
    return first, second


def _differ(pair: tuple[Target, Target], sides: tuple[Side, Side]) -> bool:
    first, second = ({name: value for name, value in each.condition.items() if name != SIDE} for each in pair)
    return first != second or sides[0].besides_axes != sides[1].besides_axes
