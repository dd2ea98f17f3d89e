"""What results need of a run's metadata beyond its outer shape.

Checked before anything is computed, and before a run is measured whose file would be refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self

from clonometer.fields import is_whole
from clonometer.runfile.metadata import MetadataFields

_NUMERIC_AXES = ("bytes", "count")
#: Of a comparison of two sides: of so many pairs each two are combined.
MOST_PAIRS = 1000
_TEMPERATURES = ("cold", "warm", None)
_CLOCK_NUMBERS = ("clock_hz", "cost_ns")
#: More ns than a lifetime has.
_MOST = 1e18
_FACT_NUMBERS = ("involuntary_switches", "voluntary_switches", "wall_ns", "cpu_ns")


def check_soundness(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that a driver or the runner cannot have written.

    Raises
    ------
    RunFileError
        That names the place and what stands there.
    KeyError
        If the catalogue, the blocks or the plan are missing.
    """
    for key in ("catalogue", "blocks", "plan"):
        metadata[key]
    top = _SoundFields(metadata, "")
    numeric = _check_catalogue(top.inner("catalogue"), top.inner_or_empty("columns"))
    for key in _CLOCK_NUMBERS:
        top.inner_or_empty("clock").number_or_none(key)
    for block in top.inners("blocks"):
        _check_facts(block.inner_or_empty("facts"))
    plan = top.inner("plan")
    for cell in plan.inners("cells"):
        _check_cell(cell, numeric)
    targets = plan.inners("targets") if plan.content.get("targets") else []
    for target in targets:
        target.texts("cells")
        for values in (target.inner_or_empty("options"), target.inner_or_empty("limits")):
            for name in values.content:
                values.value(name)
    if metadata.get("sides") is not None:
        _check_sides(top.inner("sides"))
        if len(targets) % 2:
            raise plan.wrong("targets", "of an even number: each is of A or of B")
    for setting in top.inners("settings") if metadata.get("settings") is not None else ():
        _check_setting(setting)


def _check_catalogue(catalogue: _SoundFields, columns: _SoundFields) -> set[str]:
    """Give the axes whose values are numbers."""
    axes = catalogue.children("axes")
    for axis in axes.values():
        axis.value("default")
    for name, quantity in catalogue.children("quantities").items():
        if quantity.text_or_none("stage") is not None and name in columns.content:
            column = columns.inner(name)
            if column.text("unit") != "ns":
                raise column.wrong("unit", "ns, since a stage is a time")
    for workload in catalogue.inners("workloads"):
        for key in ("id", "family", "summary"):
            workload.text(key)
        for key in ("temperatures", "quantities"):
            workload.texts(key)
        workload.text_or_none("call_returns_contains")
    return {name for name, axis in axes.items() if axis.text("type") in _NUMERIC_AXES}


def _check_facts(facts: _SoundFields) -> None:
    for key in _FACT_NUMBERS:
        facts.number_or_none(key)
    frequencies = facts.inner_or_empty("effective_mhz")
    for cpu in frequencies.content:
        frequencies.number_or_none(cpu)


def _check_cell(cell: _SoundFields, numeric: Collection[str]) -> None:
    if cell.content.get("temperature") not in _TEMPERATURES:
        raise cell.wrong("temperature", "cold, warm or null")
    condition = cell.inner("condition")
    for axis in condition.content:
        if axis in numeric:
            condition.whole(axis)


def _check_setting(setting: _SoundFields) -> None:
    setting.one_of("side", ("a", "b"))
    setting.text("name")
    setting.count("times")
    for key in ("before", "during", "after", "not_verified"):
        setting.text_or_none(key)


def _check_sides(sides: _SoundFields) -> None:
    for key in ("a", "b", "stages"):
        sides.texts(key)
    if not 1 <= sides.whole("most_pairs") <= MOST_PAIRS:
        raise sides.wrong("most_pairs", f"a whole number from 1 to {MOST_PAIRS}")
    for key in ("minimum_effect", "error_rate"):
        sides.share(key)
    if sides.content.get("max_regression") is not None:
        sides.share("max_regression")


class _SoundFields(MetadataFields):
    """An object of the metadata, with what results need of its values."""

    def inner_or_empty(self, key: str) -> Self:
        """An object, or nothing, which is taken for an empty one."""
        return self.at(self.content.get(key) or {}, self.place(key))

    def whole(self, key: str) -> int:
        """A whole number of 64 bits."""
        number = super().whole(key)
        if abs(number) >= 1 << 63:
            raise self.wrong(key, "a whole number of 64 bits")
        return number

    def value(self, key: str) -> int | str:
        """The value of an axis."""
        return self.whole(key) if is_whole(self.content.get(key)) else self.text(key)

    def number_or_none(self, key: str) -> float | None:
        """A number that can have been measured, or nothing."""
        if self.content.get(key) is None:
            return None
        number = self.number(key)
        if not 0 <= number < _MOST:
            raise self.wrong(key, "a number that can have been measured")
        return number

    def share(self, key: str) -> float:
        """A share above 0."""
        share = self.number_or_none(key)
        if not share:
            raise self.wrong(key, "a share")
        return share
