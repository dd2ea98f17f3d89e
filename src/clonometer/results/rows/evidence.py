"""Estimates together with the process values that they rest on, and the way to look them up by condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from clonometer.families import common
from clonometer.results.rows.groups import Group
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")

#: The stages that are compared, in order of time.
STAGES = tuple(stage.name for stage in common.STAGES if not stage.detail)


@dataclass(frozen=True)
class Evidence:
    """One row of the results with what comparisons need: its samples, and its process medians in ns."""

    estimate: Estimate
    group: Group
    processes: Processes


class Book:
    """All evidence of a run, in the order of the plan.

    Parameters
    ----------
    rows
        Evidence with at least one sample and a unit of time.
    defaults, kinds
        The catalogue's default and kind of every axis.
    facts
        What the catalogue says of every workload.
    cpus
        How many CPUs the run could use; None where that is not known.
    sizes
        Evidence with at least one sample whose unit is bytes; its process values are bytes.
    untimed
        Evidence with at least one sample of what is no time, such as counts.
    """

    def __init__(
        self,
        rows: Iterable[Evidence],
        defaults: Mapping[str, int | str],
        kinds: Mapping[str, str] | None = None,
        facts: Mapping[str, Mapping[str, Any]] | None = None,
        cpus: int | None = None,
        *,
        sizes: Iterable[Evidence] = (),
        untimed: Iterable[Evidence] = (),
    ) -> None:
        self.rows = tuple(rows)
        self.sizes = tuple(sizes)
        self.untimed = tuple(untimed)
        self.cpus = cpus
        self._defaults = dict(defaults)
        self._kinds = dict(kinds or {})
        self._facts = dict(facts or {})
        self.computed: dict[tuple[object, ...], Any] = {}
        self._bases = {entry.get("step_from") for entry in self._facts.values()} - {None}

    def changes(self, estimate: Estimate) -> dict[str, int | str]:
        """The axes of a row that are off their default."""
        return {
            axis: value
            for axis, value in sorted(estimate.condition.items())
            if axis not in self._defaults or value != self._defaults[axis]
        }

    def default(self, axis: str) -> int | str | None:
        """The default of an axis, or None where the catalogue does not have it."""
        return self._defaults.get(axis)

    def kind(self, axis: str) -> str | None:
        """The kind of an axis, or None where the catalogue does not have it."""
        return self._kinds.get(axis)

    def fact(self, workload: str, name: str) -> Any:
        """What the catalogue says of a workload under a key; None where it says nothing."""
        return self._facts.get(workload, {}).get(name)

    def sizes_of(self, row: Evidence) -> list[Evidence]:
        """All sizes of the cell that a row belongs to."""
        return [other for other in self.sizes if other.estimate.cell == row.estimate.cell]

    def size(self, row: Evidence, quantity: str) -> Evidence | None:
        """Another size of the cell that a row belongs to, or None where it has none."""
        return next((other for other in self.sizes_of(row) if other.estimate.quantity == quantity), None)

    def is_rung(self, workload: str) -> bool:
        """Whether a workload is part of a ladder, where each differs from another by one thing."""
        return self.fact(workload, "step_from") is not None or workload in self._bases

    def select(
        self,
        workload: str,
        changes: Mapping[str, int | str],
        temperature: str | None,
        stage: str | None,
        quantity: str | None = None,
    ) -> list[Evidence]:
        """All rows of one workload under one condition: one for each observed placement.

        ``quantity`` tells those apart that are no stage of a launch; None takes any.
        """
        return [
            row
            for row in self.rows
            if row.estimate.workload == workload
            and row.estimate.temperature == temperature
            and row.estimate.stage == stage
            and quantity in (None, row.estimate.quantity)
            and self.changes(row.estimate) == dict(changes)
        ]

    def main(
        self,
        workload: str,
        changes: Mapping[str, int | str],
        temperature: str | None,
        stage: str | None,
        quantity: str | None = None,
    ) -> Evidence | None:
        """The row of a condition that has most samples: pinned conditions have but one that counts."""
        rows = self.select(workload, changes, temperature, stage, quantity)
        return max(rows, key=lambda row: row.estimate.n_samples, default=None)

    def conditions(self, workloads: Sequence[str]) -> list[dict[str, int | str]]:
        """Conditions that all of ``workloads`` have, as changes from the defaults, in the plan's order."""
        found: list[list[dict[str, int | str]]] = []
        for workload in workloads:
            own: list[dict[str, int | str]] = []
            for row in self.rows:
                changes = self.changes(row.estimate)
                if row.estimate.workload == workload and changes not in own:
                    own.append(changes)
            found.append(own)
        return [changes for changes in found[0] if all(changes in other for other in found[1:])] if found else []


def once_per_book(
    function: Callable[Concatenate[Book, _Asked], _Answer],
) -> Callable[Concatenate[Book, _Asked], _Answer]:
    """Keep what a function says of a book: findings, tables and figures ask for the same scans, fits and ladders.

    The arguments beside the book must be hashable, the answer must not be changed by whoever gets it.
    """

    @wraps(function)
    def kept(book: Book, /, *args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer:
        key = (function, args, tuple(sorted(kwargs.items())))
        if key not in book.computed:
            book.computed[key] = function(book, *args, **kwargs)
        answer: _Answer = book.computed[key]
        return answer

    return kept
