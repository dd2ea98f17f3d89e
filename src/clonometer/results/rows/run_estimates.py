"""Estimates that have the process medians that they rest on, and the ways to look them up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

from clonometer.grouping import group_by
from clonometer.records import Mark
from clonometer.results.types import Estimate
from clonometer.run_document import RunDocument, WorkloadEntry
from clonometer.stats.processes import Processes
from clonometer.words import STAGE_ORDER, is_detail

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")

#: The stages with words that are compared, in order of time.
STAGES = tuple(stage for stage in STAGE_ORDER if not is_detail(stage))

RowKey = tuple[str, str | None]
#: Axes that are off their default, with their values.
Changes = dict[str, int | str]
_UNKNOWN = WorkloadEntry(id="", family="", summary="", temperatures=(), quantities=())


@dataclass(frozen=True, kw_only=True)
class RunEstimate(Estimate):
    """An estimate of a run that can be compared with others: with the process medians that it rests on.

    ``processes`` has them in ns, or in its unit if that is no time. Without a sample it has a single zero.
    """

    # Two estimates are equal if what they say is: arrays have no one answer to that.
    processes: Annotated[Processes, Mark.UNWRITTEN] = field(compare=False, repr=False)
    #: Where it is of launches alone: what it would be of all. Only rows of one kind may be compared between runs.
    of_all: Annotated[RunEstimate | None, Mark.UNWRITTEN] = field(default=None, compare=False, repr=False)

    @property
    def process_medians(self) -> Sequence[float]:
        """The median of each process, in the order of ``processes``; empty without a sample."""
        return tuple(self.processes.values.tolist()) if self.n_samples else ()

    @property
    def key(self) -> RowKey:
        """What tells the rows of one cell apart: quantity and observed placement."""
        return (self.quantity, self.placement)

    @property
    def is_time(self) -> bool:
        """Whether its unit is one of time."""
        return self.value is None


class RunEstimates:
    """All estimates of a run, in the order of the plan.

    The document is None where nobody asks for conditions or the catalogue.
    """

    def __init__(self, rows: Iterable[RunEstimate], document: RunDocument | None = None, name: str = "") -> None:
        self.all_rows = tuple(rows)
        self.name = name
        self.computed: dict[tuple[object, ...], Any] = {}
        self._document = document
        axes = {} if document is None else document.catalogue.axes
        #: The catalogue's default of every axis.
        self.defaults: dict[str, int | str] = {name: axis.default for name, axis in axes.items()}
        self._kinds: dict[str, str] = {name: axis.kind for name, axis in axes.items()}
        workloads = () if document is None else document.catalogue.workloads
        self._workloads = {entry.id: entry for entry in workloads}
        self._bases = {entry.step_from for entry in workloads} - {None}
        self._changes: dict[str, Changes] = {}

    def with_rows(self, rows: Iterable[RunEstimate], name: str | None = None) -> RunEstimates:
        """The same run with other rows, and maybe another name."""
        return RunEstimates(rows, self._document, self.name if name is None else name)

    @property
    def document(self) -> RunDocument:
        """All of the run but its samples."""
        if self._document is None:
            raise ValueError("these rows are not of one run")
        return self._document

    @property
    def is_paired(self) -> bool:
        """Whether its processes were started in pairs of two sides (`clonometer ab`)."""
        return self._document is not None and self._document.sides is not None

    @cached_property
    def rows(self) -> tuple[RunEstimate, ...]:
        """The rows whose unit is one of time."""
        return tuple(row for row in self.all_rows if row.is_time)

    def rows_of(self, workload: str) -> Sequence[RunEstimate]:
        """Those of them that belong to a workload."""
        return self._by_workload.get(workload, ())

    @cached_property
    def _by_workload(self) -> Mapping[str, Sequence[RunEstimate]]:
        return group_by((row.workload, row) for row in self.rows)

    @cached_property
    def cells(self) -> Mapping[str, Mapping[RowKey, RunEstimate]]:
        """All rows by cell, then by quantity and observed placement."""
        cells: dict[str, dict[RowKey, RunEstimate]] = {}
        for row in self.all_rows:
            cells.setdefault(row.cell, {})[row.key] = row
        return cells

    @property
    def cpus(self) -> int | None:
        """How many CPUs the run could use; None where that is not known."""
        host = {} if self._document is None else self._document.host
        counts = [host.get(key) for key in ("cpu.allowed", "cpu.online")]
        return min((count for count in counts if isinstance(count, int) and count > 0), default=None)

    def placements(self, cell: str, quantity: str) -> dict[str | None, RunEstimate]:
        """The rows of one quantity of a cell, by observed placement."""
        rows = self.cells.get(cell, {})
        return {placement: row for (name, placement), row in rows.items() if name == quantity}

    def find(self, cell: str, quantity: str) -> RunEstimate | None:
        """The row of a quantity of a cell at the placement that has most samples; None where there is none."""
        return _most_samples(self.placements(cell, quantity).values())

    def changes(self, estimate: Estimate, *left_out: str) -> Changes:
        """The axes of a row that are off their default, but for those left out."""
        changes = self._kept_changes(estimate)
        return {axis: changes[axis] for axis in changes if axis not in left_out} if left_out else dict(changes)

    def _kept_changes(self, estimate: Estimate) -> Changes:
        """The same of all axes, kept for the cell: nobody may change it."""
        if estimate.cell not in self._changes:
            self._changes[estimate.cell] = {
                axis: value
                for axis, value in sorted(estimate.condition.items())
                if axis not in self.defaults or value != self.defaults[axis]
            }
        return self._changes[estimate.cell]

    def default(self, axis: str) -> int | str | None:
        """The default of an axis, or None where the catalogue does not have it."""
        return self.defaults.get(axis)

    def kind(self, axis: str) -> str | None:
        """``bytes``, ``count``, ``choice`` or ``text``, or None where the catalogue does not have the axis."""
        return self._kinds.get(axis)

    def about(self, workload: str) -> WorkloadEntry:
        """What the catalogue says of a workload; an entry that says nothing where it does not have it."""
        return self._workloads.get(workload, _UNKNOWN)

    def is_rung(self, workload: str) -> bool:
        """Whether a workload is part of a ladder, where each differs from another by one thing."""
        return self.about(workload).step_from is not None or workload in self._bases

    def select(
        self,
        workload: str,
        changes: Mapping[str, int | str],
        temperature: str | None,
        stage: str | None,
        quantity: str | None = None,
    ) -> list[RunEstimate]:
        """All rows of one workload under one condition: one for each observed placement.

        ``quantity`` tells those apart that are no stage of a launch; None takes any.
        """
        wanted = dict(changes)
        return [
            row
            for row in self._by_stage.get((workload, temperature, stage), ())
            if quantity in (None, row.quantity) and self._kept_changes(row) == wanted
        ]

    @cached_property
    def _by_stage(self) -> Mapping[tuple[str, str | None, str | None], Sequence[RunEstimate]]:
        """Times by workload, temperature and stage: what `select` is asked for hundreds of times."""
        return group_by(((row.workload, row.temperature, row.stage), row) for row in self.rows)

    def main(
        self,
        workload: str,
        changes: Mapping[str, int | str],
        temperature: str | None,
        stage: str | None,
        quantity: str | None = None,
    ) -> RunEstimate | None:
        """The row of a condition that has most samples: pinned conditions have but one that counts."""
        return _most_samples(self.select(workload, changes, temperature, stage, quantity))

    def conditions(self, workloads: Sequence[str]) -> list[Changes]:
        """Conditions that all of ``workloads`` have, as changes from the defaults, in the plan's order."""
        if not workloads:
            return []
        # By their items: a mapping cannot be looked up.
        first, *others = (
            dict.fromkeys(tuple(self._kept_changes(row).items()) for row in self.rows_of(workload))
            for workload in workloads
        )
        return [dict(changes) for changes in first if all(changes in other for other in others)]


def _most_samples(rows: Iterable[RunEstimate]) -> RunEstimate | None:
    return max(rows, key=lambda row: row.n_samples, default=None)


def cached_per_run(
    function: Callable[Concatenate[RunEstimates, _Asked], _Answer],
) -> Callable[Concatenate[RunEstimates, _Asked], _Answer]:
    """Compute once what a function says of a run: findings, tables and figures ask for the same scans, fits, ladders.

    The arguments beside the estimates must be hashable, the answer must not be changed by whoever gets it.
    """

    @wraps(function)
    def kept(estimates: RunEstimates, /, *args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer:
        key = (function, args, tuple(sorted(kwargs.items())))
        if key not in estimates.computed:
            estimates.computed[key] = function(estimates, *args, **kwargs)
        answer: _Answer = estimates.computed[key]
        return answer

    return kept
