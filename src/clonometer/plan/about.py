"""What a name means: a workload, an axis or one of its values, a stage, a quantity, a family, a plan.

Each explanation has a command that works: from a plan's cell where a plan sets the axis, so that it is known to be
possible.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonometer.errors import ClonometerError, UsageError, unknown
from clonometer.families import axis as axis_of
from clonometer.families import families, family
from clonometer.plan.catalogue import TEMPERATURES
from clonometer.plan.cell import AxisValue, CatalogueAxis, Cell, matches
from clonometer.plan.names import full_name, is_glob
from clonometer.plan.planfile import load_plan, plan_title
from clonometer.plan.shipped import plan_names, plan_place
from clonometer.plan.types import Catalogue, Plan, Quantity, Workload
from clonometer.plan.values import values_text
from clonometer.units import format_bytes, format_duration
from clonometer.words import axis_words, mechanism_name, quantity_name, stage_explanation, stage_name

_TEMPERATURE = "temperature"
_COLD_OR_WARM = {
    "cold": "the first launch in a fresh process",
    "warm": "a launch after several that are not counted",
}
# What an example adds to a default where no plan has a value.
_SECOND_BYTES, _SECOND_COUNT = 64 << 20, 1000


@dataclass(frozen=True)
class About:
    """What one name means, with a command that works for an example.

    ``kind`` is ``workload``, ``axis``, ``value``, ``stage``, ``quantity``, ``family``, ``plan``, or ``group``:
    workloads whose ids begin with the same word. ``facts`` are what else there is to say, each a label and its text;
    ``missing`` is what of it this machine lacks, with the reason.
    """

    kind: str
    name: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    example: str


class Names:
    """All names of a catalogue and of the plans, and what they mean.

    ``sources`` says who measures each workload, in words.
    """

    def __init__(self, catalogue: Catalogue, sources: Mapping[str, str]) -> None:
        self._catalogue = catalogue
        self._sources = sources
        self._plans = dict(_plans(catalogue))

    def about(self, name: str) -> list[About]:
        """Explain a name: everything that bears it, since ``cow`` is a family and a plan.

        A name is as people write it: an id or its last word, a glob of ids, an axis, a value, a stage or quantity by
        its id or its title.

        Raises
        ------
        UsageError
            If nothing bears the name, with the nearest that exist.
        """
        # A value that is called as a workload is, such as `after=fork`, is not what is asked for.
        wanted = name.strip()
        values = (self._value(axis, wanted) for axis in self._catalogue.axes.values() if wanted in axis.values)
        meant = [*self._things(wanted)] or [*values]
        if not meant:
            raise unknown("name", name, self._known())
        return meant

    def _known(self) -> set[str]:
        """All that can be asked for, to guess what was meant."""
        catalogue = self._catalogue
        stages = {quantity.stage for quantity in catalogue.quantities.values() if quantity.stage is not None}
        values = {value for axis in catalogue.axes.values() for value in axis.values}
        groups = {workload.family for workload in catalogue.workloads.values()} | {*_prefixes(catalogue)}
        known = {*catalogue.workloads, *catalogue.axes, *catalogue.quantities, *plan_names(), *stages, *values, *groups}
        return known | {_TEMPERATURE, *TEMPERATURES}

    def _things(self, name: str) -> Iterator[About]:
        catalogue = self._catalogue
        if is_glob(name):
            yield from (self._workload(each) for id_, each in catalogue.workloads.items() if matches(id_, [name]))
            return
        try:
            yield self._workload(catalogue.workloads[full_name(name, catalogue.workloads)])
        except UsageError:
            # Several workloads may end in the word: `list pipe` shows them all.
            yield from (self._workload(each) for id_, each in catalogue.workloads.items() if id_.endswith(f".{name}"))
        if name in catalogue.axes:
            yield self._axis(catalogue.axes[name])
        if name in (_TEMPERATURE, *TEMPERATURES):
            yield _temperature()
        yield from self._stages(name)
        for quantity in catalogue.quantities.values():
            if quantity.stage is None and name in (quantity.name, quantity_name(quantity.name)):
                yield self._quantity(quantity)
        yield from self._groups(name)
        if name in plan_names():
            yield self._plan(name)

    def _workload(self, workload: Workload) -> About:
        quantities = [self._catalogue.quantities[name] for name in workload.quantities]
        called = mechanism_name(workload.id)
        facts = _filled(
            ("called", "" if called == workload.id else f"{called} in tables"),
            ("family", _family_text(workload.family)),
            *((_shown(quantity), quantity.summary) for quantity in quantities),
            (_TEMPERATURE, _temperatures_text(workload.temperatures)),
            ("axes", ", ".join(f"{axis}={self._default(axis)}" for axis in workload.axes)),
            ("plans", ", ".join(self._plans_with(lambda cell: cell.workload == workload.id))),
            ("source", self._sources.get(workload.id, "")),
        )
        missing = () if workload.available else (workload.reason or "not available",)
        return About("workload", workload.id, workload.summary, facts, missing, f"clonometer run {workload.id}")

    def _axis(self, axis: CatalogueAxis) -> About:
        words = axis_of(axis.name)
        explained = [
            f"{value}: {words.explanations.get(value) or axis_words(axis.name, value)}"
            for value in axis.values
            if value in words.explanations or axis_words(axis.name, value) != value
        ]
        facts = _filled(
            ("takes", values_text(axis) + (f", at least {_written(axis, axis.minimum)}" if axis.minimum else "")),
            ("values", "; ".join(explained)),
            ("default", _with_unit(axis.name, self._default(axis.name))),
            ("no effect", words.qualifies.nowhere if words.qualifies else ""),
            ("set by", "the runner, around the driver" if words.by_runner else "the driver"),
            (
                "workloads",
                self._listed(id_ for id_, each in self._catalogue.workloads.items() if axis.name in each.axes),
            ),
            ("plans", ", ".join(self._plans_with(lambda cell: self._sets(cell, axis)))),
        )
        missing = tuple(f"{value}: {reason}" for value, reason in axis.unavailable.items())
        return About("axis", axis.name, axis.summary, facts, missing, self._example(axis))

    def _value(self, axis: CatalogueAxis, value: str) -> About:
        words = axis_of(axis.name)
        text = words.explanations.get(value) or axis_words(axis.name, value)
        facts = (("called", f"{text} in tables"),)
        missing = (axis.unavailable[value],) if value in axis.unavailable else ()
        return About("value", f"{axis.name}={value}", axis.summary, facts, missing, self._example(axis, value))

    def _stages(self, name: str) -> Iterator[About]:
        for stage in dict.fromkeys(quantity.stage for quantity in self._catalogue.quantities.values()):
            columns = [each for each in self._catalogue.quantities.values() if each.stage == stage]
            asked = {stage, stage_name(stage), *(column.name for column in columns)}
            if stage is None or name not in asked:
                continue
            measured = self._measured_by(column.name for column in columns)
            facts = _filled(
                ("called", f"{stage_name(stage)} in tables"),
                ("column", ", ".join(f"{column.name}: {column.summary}" for column in columns)),
                ("counted", "from one timestamp right before the call"),
                ("workloads", self._listed(measured)),
            )
            summary = stage_explanation(stage) or columns[0].summary
            yield About("stage", stage, summary, facts, (), _run(measured[:2]))

    def _quantity(self, quantity: Quantity) -> About:
        measured = self._measured_by([quantity.name])
        facts = _filled(
            ("called", f"{quantity_name(quantity.name)} in tables"),
            ("unit", quantity.unit),
            ("workloads", self._listed(measured)),
        )
        return About("quantity", quantity.name, quantity.summary, facts, (), _run(measured[:1]))

    def _groups(self, name: str) -> Iterator[About]:
        """Families, and workloads that have the first word of their ids in common."""
        members = [each for each in self._catalogue.workloads.values() if each.family == name]
        shared = _prefixes(self._catalogue).get(name, [])
        if members:
            text = family(name).explanation or family(name).title
            its_axes = ", ".join(axis for axis in family(name).axes if axis in self._catalogue.axes)
            yield self._group("family", name, text, members, *_filled(("axes", its_axes)))
        if shared and {each.id for each in shared} != {each.id for each in members}:
            kinds = dict.fromkeys(family(each.family).title for each in shared)
            yield self._group("group", name, f"Workloads {name}.*: {', '.join(kinds)}.", shared)

    def _group(
        self,
        kind: str,
        name: str,
        summary: str,
        members: Sequence[Workload],
        *facts: tuple[str, str],
    ) -> About:
        lines = tuple((each.id, each.summary) for each in members)
        missing = tuple(f"{each.id}: {each.reason}" for each in members if not each.available)
        return About(kind, name, summary, (*lines, *facts), missing, _run([each.id for each in members][:2]))

    def _plan(self, name: str) -> About:
        example = f"clonometer run --plan {name}"
        try:
            plan = load_plan(name, self._catalogue)
        except ClonometerError as error:
            # It names what the drivers that were built here do not have at all.
            return About("plan", name, plan_title(name), (), (error.message,), example)
        varied = {
            axis
            for cell in plan.cells
            for axis, value in cell.condition.items()
            if value != self._catalogue.axes[axis].default
        }
        facts = _filled(
            ("measures", f"{len(plan.cells)} cells in about {plan.budget_seconds:.0f} s"),
            ("workloads", self._listed(dict.fromkeys(cell.workload for cell in plan.cells))),
            ("axes", ", ".join(sorted(varied))),
            ("source", plan_place(name)),
        )
        return About("plan", name, plan.title, facts, (), example)

    def _default(self, axis: str) -> str:
        return _written(self._catalogue.axes[axis], self._catalogue.axes[axis].default) or "''"

    def _measured_by(self, quantities: Iterable[str]) -> list[str]:
        wanted = set(quantities)
        return [id_ for id_, each in self._catalogue.workloads.items() if wanted & set(each.quantities)]

    def _listed(self, workloads: Iterable[str]) -> str:
        """Workloads by name, or by their first word where all that begin so are meant."""
        left = list(workloads)
        for first, group in _prefixes(self._catalogue).items():
            ids = [each.id for each in group]
            if len(ids) > 1 and set(ids) <= set(left):
                place = left.index(ids[0])
                left = [id_ for id_ in left if id_ not in ids]
                left.insert(place, f"{first}.*")
        return ", ".join(left)

    def _plans_with(self, fits: Callable[[Cell], bool]) -> list[str]:
        return [name for name, plan in self._plans.items() if any(fits(cell) for cell in plan.cells)]

    def _example(self, axis: CatalogueAxis, value: str | None = None) -> str:
        """A run that varies an axis, or sets a value of it, as simple as any in the plans."""
        cells = [
            cell
            for plan in self._plans.values()
            for cell in plan.cells
            if (self._sets(cell, axis) if value is None else cell.condition.get(axis.name) == value)
        ]
        if not cells:
            return self._made_up(axis, value)
        order = list(self._catalogue.workloads)
        cell = min(cells, key=lambda cell: (len(self._set(cell)), not self._usable(cell), order.index(cell.workload)))
        settings = {**self._set(cell), axis.name: cell.condition[axis.name]}
        return self._settings(cell.workload, settings, axis)

    def _made_up(self, axis: CatalogueAxis, value: str | None) -> str:
        workload = next((each.id for each in self._catalogue.workloads.values() if axis.name in each.axes), "")
        if axis.values:
            second: AxisValue = value or next((each for each in axis.values if each != axis.default), axis.default)
        elif isinstance(axis.default, int):
            # Of a number more may be refused: nobody has said how many there may be.
            fewest = _SECOND_COUNT if axis.name.endswith("_ns") else 1
            second = axis.default // 2 or (_SECOND_BYTES if axis.kind == "bytes" else fewest)
        else:
            second = axis.default or "/tmp"
        settings: dict[str, AxisValue] = {axis.name: second}
        qualified = axis_of(axis.name).qualifies
        if qualified is not None:
            of = self._catalogue.axes[qualified.of]
            settings[of.name] = qualified.needs or (_SECOND_BYTES if of.kind == "bytes" else _SECOND_COUNT)
        return self._settings(workload, settings, axis)

    def _settings(self, workload: str, settings: Mapping[str, AxisValue], varied: CatalogueAxis) -> str:
        words = ["clonometer", "run", workload]
        for name, value in settings.items():
            axis = self._catalogue.axes[name]
            text = _written(axis, value)
            both = name == varied.name and axis.default not in {value, ""}
            words += ["--set", f"{name}={_written(axis, axis.default)},{text}" if both else f"{name}={text}"]
        return shlex.join(words)

    def _set(self, cell: Cell) -> dict[str, AxisValue]:
        return {name: value for name, value in cell.condition.items() if value != self._catalogue.axes[name].default}

    @staticmethod
    def _sets(cell: Cell, axis: CatalogueAxis) -> bool:
        return cell.condition.get(axis.name, axis.default) != axis.default

    def _usable(self, cell: Cell) -> bool:
        axes = self._catalogue.axes
        return self._catalogue.workloads[cell.workload].available and not any(
            value in axes[name].unavailable for name, value in cell.condition.items()
        )


def _plans(catalogue: Catalogue) -> Iterator[tuple[str, Plan]]:
    for name in plan_names():
        try:
            yield name, load_plan(name, catalogue)
        except ClonometerError:
            # It names what the drivers that were built here do not have at all.
            continue


def _prefixes(catalogue: Catalogue) -> dict[str, list[Workload]]:
    """The first words of the ids of workloads, and who bears each."""
    groups: dict[str, list[Workload]] = {}
    for workload in catalogue.workloads.values():
        groups.setdefault(workload.id.partition(".")[0], []).append(workload)
    return groups


def _temperature() -> About:
    facts = (*_COLD_OR_WARM.items(), ("default", "both, reported separately"))
    summary = "whether a launch is the first of its process"
    return About("axis", _TEMPERATURE, summary, facts, (), "clonometer run launch.fork --set temperature=warm")


def _temperatures_text(temperatures: Sequence[str]) -> str:
    return f"{' and '.join(temperatures)}, reported separately" if len(temperatures) > 1 else "".join(temperatures)


def _family_text(name: str) -> str:
    known = next((each for each in families() if each.name == name), None)
    return f"{known.title}. {known.explanation}" if known else family(name).title


def _shown(quantity: Quantity) -> str:
    return stage_name(quantity.stage) if quantity.stage else quantity_name(quantity.name)


def _written(axis: CatalogueAxis, value: AxisValue | None) -> str:
    return format_bytes(value) if axis.kind == "bytes" and isinstance(value, int) else str(value)


def _with_unit(axis: str, number: str) -> str:
    return f"{number} ({format_duration(float(number))})" if axis.endswith("_ns") and number != "0" else number


def _run(workloads: Sequence[str]) -> str:
    return shlex.join(["clonometer", "run", *workloads])


def _filled(*facts: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """The facts that have a text."""
    return tuple((label, text) for label, text in facts if text)
