"""The catalogue: what drivers say they can do (``--describe`` in docs/protocol.md), checked and merged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from clonometer.errors import CatalogueError
from clonometer.fields import Fields
from clonometer.plan.cell import AxisValue, CatalogueAxis
from clonometer.plan.types import Catalogue, Quantity, Workload

AXIS_KINDS = ("bytes", "count", "choice", "text")
TEMPERATURES = ("cold", "warm")

_WORD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_WORKLOAD_ID = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*")


class _Reader(Fields):
    """One object of a driver's description; every complaint names the driver and the key."""

    def __init__(self, content: object, where: str, driver: str = "?") -> None:
        self.driver = driver
        super().__init__(content, where)

    def at(self, content: object, where: str) -> Self:
        return type(self)(content, where, self.driver)

    def complaint(self, place: str, wanted: str, actual: str) -> CatalogueError:
        return self._error(place, f"must be {wanted}, is {actual}")

    def error(self, key: str, complaint: str) -> CatalogueError:
        return self._error(self.path(key) if key else self.where, complaint)

    def _error(self, place: str, complaint: str) -> CatalogueError:
        whole = place or "the whole"
        return CatalogueError(f"driver {self.driver!r}: invalid --describe output: {whole} {complaint}", _HINT)

    def names(self, key: str) -> tuple[str, ...]:
        """A list of texts, each once."""
        names = self.texts(key)
        if len(set(names)) != len(names):
            raise self.error(key, "names something twice")
        return names

    def text_map(self, key: str) -> dict[str, str]:
        value = self.content.get(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
            raise self.wrong(key, "an object of texts")
        return dict(value)


_HINT = "docs/protocol.md says what a description must have"


def read_catalogue(described: Sequence[Mapping[str, object]], lacks: Sequence[Mapping[str, str]] = ()) -> Catalogue:
    """Merge the ``--describe`` objects of drivers into the catalogue; reading its ``raw`` again gives an equal one.

    ``lacks`` are drivers that are missing here: ``what`` is the first word of their workloads, and ``reason`` says why.

    Raises
    ------
    CatalogueError
        If a description lacks a key or has a wrong one (the message names driver and key), if two drivers
        define one axis or quantity differently, or both offer the same workload.

    Examples
    --------
    >>> described = {"driver": {"name": "idle"}, "axes": {}, "quantities": {}, "workloads": [], "lacks": []}
    >>> read_catalogue([described]).workloads
    {}
    """
    merged = _Merged()
    for description in described:
        merged.add(description)
    merged.lacks += map(dict, lacks)
    return Catalogue(merged.axes, merged.workloads, merged.quantities, tuple(merged.lacks), merged.raw())


class _Merged:
    def __init__(self) -> None:
        self.drivers: list[object] = []
        self.axes: dict[str, CatalogueAxis] = {}
        self.quantities: dict[str, Quantity] = {}
        self.workloads: dict[str, Workload] = {}
        self.lacks: list[dict[str, str]] = []
        self._raw: dict[str, dict[str, dict[str, Any]]] = {"axes": {}, "quantities": {}, "workloads": {}}
        self._owner: dict[str, str] = {}

    def add(self, described: Mapping[str, object]) -> None:
        reader = _Reader(described, "")
        drivers = reader.inners("drivers") if "drivers" in described else [reader.inner("driver")]
        names = [driver.text("name") for driver in drivers]
        reader.driver = " + ".join(names)
        self.drivers += [dict(driver.content) for driver in drivers]
        axes, quantities = reader.children("axes"), reader.children("quantities")
        for name, axis in axes.items():
            self._add_axis(name, axis)
        for name, quantity in quantities.items():
            self._add_quantity(name, quantity)
        for workload in reader.inners("workloads"):
            self._add_workload(workload, set(axes), set(quantities), owner=reader.driver)
        for lack in reader.inners("lacks") if "lacks" in described else []:
            self.lacks.append({"what": lack.text("what"), "reason": lack.text("reason")})

    def _add_axis(self, name: str, reader: _Reader) -> None:
        axis = _read_axis(name, reader)
        before = self.axes.get(name)
        if before is not None:
            for attribute in ("kind", "default", "minimum", "values", "form"):
                if getattr(axis, attribute) != getattr(before, attribute):
                    key = "type" if attribute == "kind" else attribute
                    was = f"another driver says {getattr(before, attribute)!r}"
                    raise reader.error(key, f"is {getattr(axis, attribute)!r} where {was}")
            # A value is out of reach only where no driver has it; a driver that lacks it answers so itself.
            both = {value: why for value, why in before.unavailable.items() if value in axis.unavailable}
            self.axes[name] = replace(before, unavailable=both)
            self._raw["axes"][name] = {**self._raw["axes"][name], "unavailable": both}
            return
        self.axes[name] = axis
        self._raw["axes"][name] = dict(reader.content)
        self._owner[name] = reader.driver

    def _add_quantity(self, name: str, reader: _Reader) -> None:
        if not _WORD.fullmatch(name):
            raise reader.error("", "is not a name: lower-case words joined by _")
        quantity = Quantity(name, reader.text("unit"), reader.text_or_none("stage"), reader.text("summary"))
        before = self.quantities.setdefault(name, quantity)
        if (before.unit, before.stage) != (quantity.unit, quantity.stage):
            raise reader.error("unit", f"or stage differs: another driver says {before.unit!r}, {before.stage!r}")
        self._raw["quantities"].setdefault(name, dict(reader.content))

    def _add_workload(self, reader: _Reader, axes: set[str], quantities: set[str], owner: str) -> None:
        workload = _read_workload(reader, axes, quantities)
        if workload.id in self.workloads:
            raise reader.error("id", f"{workload.id!r} is offered twice (also by {self._owner[workload.id]!r})")
        self.workloads[workload.id] = workload
        self._owner[workload.id] = owner
        self._raw["workloads"][workload.id] = {"driver": owner, **reader.content}

    def raw(self) -> dict[str, object]:
        return {
            "drivers": self.drivers,
            "axes": self._raw["axes"],
            "quantities": self._raw["quantities"],
            "workloads": list(self._raw["workloads"].values()),
            "lacks": self.lacks,
        }


def _read_axis(name: str, reader: _Reader) -> CatalogueAxis:
    if not _WORD.fullmatch(name) or name == "temperature":
        raise reader.error("", "is not a name for an axis: lower-case words joined by _, and not 'temperature'")
    kind = reader.one_of("type", AXIS_KINDS)
    values = reader.names("values") if kind == "choice" else ()
    minimum = reader.count_or_none("minimum")
    form = _form(reader) if kind == "text" else None
    unavailable = reader.text_map("unavailable")
    default: AxisValue
    if kind in ("bytes", "count"):
        number = reader.count_or_none("default")
        if number is None:
            raise reader.error("default", "must be a whole number from 0, is missing")
        if number < (minimum or 0):
            raise reader.error("default", f"{number} is below the minimum {minimum}")
        default = number
    else:
        default = reader.one_of("default", values) if kind == "choice" else reader.text("default")
    strange = [value for value in unavailable if value not in values]
    if strange:
        raise reader.error("unavailable", f"names {strange[0]!r}, which is not among the values")
    if form is not None and not re.fullmatch(form, str(default)):
        raise reader.error("default", f"{default!r} is not of the form {form!r}")
    return CatalogueAxis(name, kind, default, reader.text("summary"), values, minimum, unavailable, form)


def _form(reader: _Reader) -> str | None:
    form = reader.text_or_none("form")
    try:
        re.compile(form or "")
    except re.error as error:
        raise reader.error("form", f"is not a regular expression: {error}") from None
    return form


def _read_workload(reader: _Reader, axes: set[str], quantities: set[str]) -> Workload:
    if not _WORKLOAD_ID.fullmatch(reader.text("id")):
        raise reader.error("id", f"{reader.text('id')!r} is not an id: lower-case words joined by dots")
    for key, known in (("axes", axes), ("quantities", quantities), ("temperatures", set(TEMPERATURES))):
        strange = [name for name in reader.names(key) if name not in known]
        if strange:
            raise reader.error(key, f"names {strange[0]!r}, which is not described")
    available = reader.boolean("available")
    reason = reader.text_or_none("reason")
    if not available and not reason:
        raise reader.error("reason", "is missing for a workload that is not available")
    # Who needs these two reads them in the raw catalogue: here they are only checked.
    reader.text_map("nulls")
    reader.text_or_none("call_returns_contains")
    # Any family: what has no module in `clonometer.families` has defaults for all that is said of it.
    if not _WORD.fullmatch(reader.text("family")):
        raise reader.error("family", f"{reader.text('family')!r} is not a name: lower-case words joined by _")
    return Workload(
        id=reader.text("id"),
        family=reader.text("family"),
        summary=reader.text("summary"),
        axes=reader.names("axes"),
        temperatures=reader.names("temperatures"),
        quantities=reader.names("quantities"),
        available=available,
        reason=reason,
    )
