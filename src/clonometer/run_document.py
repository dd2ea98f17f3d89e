"""The run document (docs/runfile.md): all of a run but its samples, checked as it is read and typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

from clonometer.errors import InputError, RunFileError
from clonometer.fields import is_whole
from clonometer.records import Check, Count, Ge, Gt, Key, Le, Mark, OneOf, from_json

SCHEMA = 1
#: A driver's column type and how it stands in the file.
ARROW_TYPES = {"i32": "int32", "i64": "int64", "f64": "double"}
#: The same as numpy calls it.
NUMPY_TYPES = {"i32": "int32", "i64": "int64", "f64": "float64"}
#: Of a comparison of two sides: of so many pairs each two are combined.
MOST_PAIRS = 1000

_NUMERIC_AXES = ("bytes", "count")
# Whatever is computed from it must fit a float.
_MOST_WHOLE = 1 << 127


def _is_timestamp(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


Timestamp = Annotated[str, Check(_is_timestamp, "is not a time with UTC offset, by ISO 8601")]
Measured = Annotated[float, Ge(0)]
Temperature = Annotated[str | None, OneOf(("cold", "warm"))]
PositiveShare = Annotated[float, Gt(0)]


@dataclass(frozen=True, kw_only=True)
class AxisEntry:
    """An axis of the catalogue."""

    kind: Annotated[str, Key("type"), "``bytes``, ``count``, ``choice`` or ``text``."]
    default: int | str
    further: Annotated[Mapping[str, Any], Mark.REST]


@dataclass(frozen=True, kw_only=True)
class QuantityEntry:
    """A quantity of the catalogue."""

    unit: str
    stage: Annotated[str | None, Mark.OPTIONAL, "None outside launches."] = None
    point: Annotated[str | None, Mark.OMITTED, "Where in the code the stage ends, if that was moved once."] = None
    signed: Annotated[bool, Mark.OPTIONAL, "A value below zero means something."] = False
    detail: Annotated[bool, Mark.OPTIONAL, "It explains another quantity of its workload."] = False
    further: Annotated[Mapping[str, Any], Mark.REST] = field(default_factory=dict)


@dataclass(frozen=True)
class LadderEntry:
    """A distribution that samples hold as a ladder."""

    name: str
    count: Annotated[str, "The quantity that says how many values there were."]
    steps: Annotated[Mapping[str, Count], "Of each quantity: of this number of values one is as long; 0: the longest."]


@dataclass(frozen=True, kw_only=True)
class WorkloadEntry:
    """A workload of the catalogue."""

    id: str
    family: str
    summary: str
    temperatures: Sequence[str]
    quantities: Sequence[str]
    call_returns_contains: Annotated[str | None, Mark.OPTIONAL] = None
    phases: Annotated[bool, Mark.OPTIONAL, "Its quantities are phases of one event."] = False
    distributions: Annotated[Sequence[LadderEntry], Mark.OPTIONAL] = ()
    distributions_of: Annotated[str | None, Mark.OMITTED] = None
    reaped_by: Annotated[str | None, Mark.OPTIONAL] = None
    step_from: Annotated[str | None, Mark.OPTIONAL, "The workload that has one flag less, in a ladder."] = None
    further: Annotated[Mapping[str, Any], Mark.REST] = field(default_factory=dict)


@dataclass(frozen=True)
class CatalogueEntry:
    """What the drivers described (docs/protocol.md), merged."""

    axes: Mapping[str, AxisEntry]
    quantities: Mapping[str, QuantityEntry]
    workloads: Sequence[WorkloadEntry]
    further: Annotated[Mapping[str, Any], Mark.REST]

    def workload(self, name: str) -> WorkloadEntry:
        """What is said of a workload.

        Raises
        ------
        RunFileError
            If it is not there.
        """
        for entry in self.workloads:
            if entry.id == name:
                return entry
        raise RunFileError(f"the run's catalogue does not have its workload {name!r}")


@dataclass(frozen=True)
class PlanCell:
    """A cell of the plan: canonical text, workload, full condition (sizes in bytes), temperature or None."""

    cell: str
    workload: str
    condition: Mapping[str, int | str]
    temperature: Temperature


@dataclass(frozen=True)
class PlanTarget:
    """What one start of a driver measures: the texts of its cells, how much of them, and options of the driver."""

    workload: str
    cells: Sequence[str]
    limits: Annotated[Mapping[str, int | str], Mark.OPTIONAL] = field(default_factory=dict)
    options: Annotated[Mapping[str, int | str], Mark.OPTIONAL] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlanDocument:
    """The plan as it was expanded."""

    name: str
    title: str
    budget_seconds: float
    target_width: Annotated[float | None, Mark.OMITTED, "A share; older files have none."] = None
    cells: Sequence[PlanCell]
    targets: Annotated[Sequence[PlanTarget], Mark.OPTIONAL, "Older files have none."] = ()

    @property
    def workload_of(self) -> dict[str, str]:
        """The workload of each cell."""
        return {entry.cell: entry.workload for entry in self.cells}


@dataclass(frozen=True)
class ClockEntry:
    """The calibration of the clock (docs/protocol.md)."""

    clock: Annotated[str | None, Mark.OPTIONAL] = None
    clock_hz: Annotated[Measured | None, Mark.OPTIONAL] = None
    cost_ns: Annotated[Measured | None, Mark.OPTIONAL] = None
    further: Annotated[Mapping[str, Any], Mark.REST] = field(default_factory=dict)


@dataclass(frozen=True)
class EnvironmentEntry:
    """The fixed environment of the drivers: its names, and a hash, since values may be secrets."""

    names: Sequence[str]
    hash: str
    further: Annotated[Mapping[str, Any], Mark.REST]


@dataclass(frozen=True, kw_only=True)
class ProcessEntry:
    """One start of a driver; times in ns from the start of the run, ``ended_ns`` None if not seen."""

    process: int
    driver: str
    cells: Sequence[str]
    started_ns: int
    ended_ns: int | None
    status: str
    reason: str | None
    exit_status: int | None
    stderr: Annotated[str, Mark.OPTIONAL] = ""
    pair: Annotated[Count | None, Mark.OMITTED, "The pair that it was started in; None where there are none."] = None
    env_bytes: Annotated[Count | None, Mark.OMITTED, "The size of its environment."] = None
    argv_bytes: Annotated[Count | None, Mark.OMITTED, "The size of its command."] = None
    personality: Annotated[
        str | None, Mark.OMITTED, "In hexadecimal, where it was started with another than the runner's."
    ] = None


class BlockFacts(TypedDict, total=False):
    """What a driver saw of the whole of a block (docs/protocol.md), as far as anything here rests on it."""

    wall_ns: Measured | None
    cpu_ns: Measured | None
    system_ns: Measured | None
    children_cpu_ns: float | None
    children_system_ns: float | None
    voluntary_switches: Measured | None
    involuntary_switches: Measured | None
    effective_mhz: Mapping[str, Measured | None] | None
    collections: float | None
    tasks_created: float | None
    vm_pte_bytes: float | None
    anon_areas: int | None
    anon_bytes: int | None
    vmas: int | None
    open_files: int | None


@dataclass(frozen=True)
class BlockEntry:
    """One block of a process: status ``ok``, ``skipped`` or ``failed``, counts of outcomes, facts."""

    process: int
    block: int
    cell: str
    status: str
    reason: str | None
    rows: Count
    outcomes: Mapping[str, int]
    facts: BlockFacts


@dataclass(frozen=True)
class CellEntry:
    """How a cell ended: ``ok``, ``skipped``, ``failed`` or ``missing``, and why; and what stopped it."""

    cell: str
    status: Annotated[str, OneOf(("ok", "skipped", "failed", "missing"))]
    reason: str | None
    stopped_by: str | None


@dataclass(frozen=True)
class ColumnEntry:
    """A column of the drivers."""

    type: Annotated[str, OneOf(tuple(ARROW_TYPES))]
    unit: str


@dataclass(frozen=True)
class SidesEntry:
    """The two sides of a comparison, and what was fixed before its first pair."""

    a: Annotated[Sequence[str], "KEY=VALUE, what side A differs in."]
    b: Sequence[str]
    most_pairs: Annotated[int, Ge(1), Le(MOST_PAIRS)]
    minimum_effect: PositiveShare
    max_regression: PositiveShare | None
    error_rate: PositiveShare
    stages: Annotated[Sequence[str], "Those that are compared; empty: all."]


@dataclass(frozen=True)
class SwitchedSetting:
    """What became of a setting that the command ``do`` of a side writes: read before it, after it, and after undo."""

    side: Annotated[Literal["a", "b"], "Whose command."]
    name: Annotated[str, "The file, or a pattern of files, that it writes; empty: it names none."]
    before: Annotated[str | None, "Its value before do; null: not read."]
    during: Annotated[str | None, "Its value after do, while the side is measured."]
    after: Annotated[str | None, "Its value after undo."]
    times: Annotated[Count, "How often it was switched; values are those of the last time."]
    not_verified: Annotated[str | None, "Why it is not known whether it was switched; null: it was."]


@dataclass(frozen=True, kw_only=True)
class RunDocument:
    """All of a run but its samples."""

    schema: Literal[1]
    status: Annotated[str, OneOf(("complete", "partial", "failed"))]
    status_reason: Annotated[str | None, "None, or why not complete."]
    started: Timestamp
    ended: Timestamp
    clonometer_version: str
    seed: Annotated[int, Ge(-_MOST_WHOLE), Le(_MOST_WHOLE), "The integer that ordered the run."]
    command: Annotated[Sequence[str], "The command line that repeats it, as words."]
    plan: PlanDocument
    catalogue: CatalogueEntry
    clock: ClockEntry
    host: Annotated[Mapping[str, Any], "Host facts (docs/host.md)."]
    environment: Annotated[EnvironmentEntry | None, Mark.OMITTED, "Older files have none."] = None
    processes: Annotated[Sequence[ProcessEntry], "In realised order."]
    sides: Annotated[SidesEntry | None, Mark.OMITTED, "Only in runs of clonometer ab."] = None
    settings: Annotated[Sequence[SwitchedSetting], Mark.OPTIONAL, "Only in runs of clonometer ab with do."] = ()
    fleet: Annotated[Mapping[str, Any] | None, Mark.OMITTED, "Only in runs of clonometer fleet run."] = None
    blocks: Annotated[Sequence[BlockEntry], "By process, then by block."]
    cells: Annotated[Sequence[CellEntry], "How each cell of the plan ended."]
    columns: Annotated[Mapping[str, ColumnEntry], "The drivers' columns."]
    further: Annotated[Mapping[str, Any], Mark.REST]

    @property
    def started_ns(self) -> dict[int, float]:
        """When each process started, in ns from the start of the run."""
        return {entry.process: float(entry.started_ns) for entry in self.processes}

    def fault(self) -> str | None:
        """What does not fit together, in words after its place."""
        axes, columns = self.catalogue.axes, self.columns
        numeric = {name for name, axis in axes.items() if axis.kind in _NUMERIC_AXES}
        for cell in self.plan.cells:
            for axis in numeric & cell.condition.keys():
                if isinstance(cell.condition[axis], str):
                    return f"gives {axis} of {cell.cell} the value {cell.condition[axis]!r}, which is not a number"
        for name, quantity in self.catalogue.quantities.items():
            if quantity.stage is not None and name in columns and columns[name].unit != "ns":
                return f"has the stage {name} in {columns[name].unit!r}, not in ns"
        if self.sides is not None and len(self.plan.targets) % 2:
            return "has targets of an odd number, where each is of side A or of side B"
        return None


def read_document(value: object) -> RunDocument:
    """Check what `json.loads` gave of a run document, and type it.

    Raises
    ------
    RunFileError
        If it is of a newer schema, or not of the shape that docs/runfile.md rules.
    """
    schema = value.get("schema") if isinstance(value, dict) else None
    if is_whole(schema) and schema > SCHEMA:
        raise RunFileError(
            f"the run file has schema {schema}, this Clonometer reads up to {SCHEMA}", "update Clonometer"
        )
    try:
        return from_json(RunDocument, value)
    except InputError as error:
        raise RunFileError(f"the run's metadata is damaged: {error.message}") from error
