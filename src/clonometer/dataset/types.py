"""What a folder of runs hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from clonometer.records import Count, Ge, Key, Mark, Only, computed_field, version
from clonometer.results.compare.types import Compared, Provenance
from clonometer.results.types import Estimate

FLEET_SCHEMA = 3
_OF_LABEL = Only("label", ("cell", "workload", "quantity", "unit", "stage", "temperature", "placement"))


@dataclass(frozen=True)
class RunEntry:
    """A run of the folder, without its rows.

    ``path`` is from the folder, ``started`` by ISO 8601 with UTC offset, and ``host`` tells its host from others.
    ``provenance`` has the lasting facts of its host (docs/host.md), and its version and clock.
    """

    path: str
    started: str
    host: str
    status: str
    provenance: Provenance

    @property
    def facts(self) -> Mapping[str, Any]:
        """The lasting facts of its host (docs/host.md)."""
        return self.provenance.host


@dataclass(frozen=True)
class Label:
    """What a kind of row is about: all of an estimate but its figures."""

    cell: str
    workload: str
    condition: Mapping[str, int | str]
    temperature: str | None
    stage: str | None
    placement: str | None
    quantity: str
    unit: Annotated[str, Mark.UNWRITTEN]
    family: str
    resolution_ns: float
    is_time: bool

    @computed_field("ns where it is a time.")
    def shown_unit(self) -> Annotated[str, Key("unit")]:
        """The unit of its figures in a folder's answers."""
        return "ns" if self.is_time else self.unit

    def estimate(self, figures: tuple[float, float | None, float | None], n_samples: int, n_processes: int) -> Estimate:
        """An estimate with a median and its ends: in ns of a time, else in the label's unit."""
        none = (None, None, None)
        times, values = (figures, none) if self.is_time else (none, figures)
        about = {name: value for name, value in vars(self).items() if name != "is_time"}
        return Estimate(
            **about,
            n_samples=n_samples,
            n_processes=n_processes,
            median_ns=times[0],
            median_low_ns=times[1],
            median_high_ns=times[2],
            value=values[0],
            value_low=values[1],
            value_high=values[2],
            p99_ns=None,
            p99_reason="a summary of many runs has none",
            min_ns=None,
            effective_mhz=None,
        )


@dataclass(frozen=True)
class LeftOutFile:
    """A file of the folder that is not counted, or a run of which something is to be known, and why."""

    path: Annotated[str, "From the folder."]
    reason: str


@dataclass(frozen=True)
class FolderReading:
    """What was read of a folder, and what was not."""

    folder: str
    n_files: Annotated[Count, "Files that are named as run files."]
    n_runs: Annotated[Count, "Runs that are counted."]
    n_hosts: Count
    damaged: Annotated[Sequence[LeftOutFile], "Left out: they cannot be read."]
    duplicates: Annotated[Sequence[LeftOutFile], "Left out: another file holds the same run."]
    partial: Annotated[Count, "Runs that did not end as planned; what they have is counted."]
    clocks_apart: Annotated[Sequence[LeftOutFile], "Counted, but their host's clock disagrees with this machine's."]


@dataclass(frozen=True)
class HostGroup:
    """Runs whose hosts share what was asked for."""

    name: str
    n_hosts: Count
    n_runs: Count
    first: Annotated[str, "When its first run started."]
    last: str


@dataclass(frozen=True)
class FleetRow:
    """One kind of row in one group: the median over hosts, and how hosts and runs differ."""

    group: str
    label: Annotated[Label, Mark.MERGED, _OF_LABEL]
    n_hosts: Count
    n_runs: Count
    median: Annotated[float, "Over hosts; a host is the mean of its runs' medians (on the logarithm)."]
    low: Annotated[float | None, "Lower end of its 95% interval over hosts; null with one host."]
    high: float | None
    between_hosts: Annotated[
        float | None, Ge(0), "Standard deviation between hosts, as a share; null with fewer than two hosts."
    ]
    within_host: Annotated[
        float | None, Ge(0), "Standard deviation between runs of a host, as a share; null where no host has two."
    ]


@dataclass(frozen=True)
class OddHost:
    """A host that is far from the others of its group in all rows of a workload."""

    group: str
    host: str
    workload: Annotated[str | None, "Null: over all workloads."]
    ratio: Annotated[float, Ge(0), "How many times as long as the median host takes: the median over its rows."]
    score: Annotated[float, "Its distance in robust standard deviations (0.6745 / MAD)."]
    limit: Annotated[float, "The distance beyond which a host is an outlier."]
    n_rows: Count
    least: Annotated[
        float | None, Mark.OPTIONAL, Ge(0), "Over all workloads: the ratio of the one with the smallest; else null."
    ] = None
    most: Annotated[float | None, Mark.OPTIONAL, Ge(0), "Of the one with the largest."] = None


@dataclass(frozen=True)
class HostValue:
    """One host's value of one kind of row: in ns of a time, else in the label's unit.

    ``label_place`` is a number for its label, the same for all hosts. ``times`` says how many times that of the median
    host of its group it is, ``is_odd`` whether the host is an outlier in this workload, or in all.
    """

    group: str
    host: str
    label_place: int
    label: Label
    value: float
    times: float
    is_odd: bool


@dataclass(frozen=True)
class FleetShown:
    """What a folder of runs says: groups, rows, hosts that are outliers."""

    schema = version(FLEET_SCHEMA)

    reading: FolderReading
    by: Annotated[str, "The fact that groups hosts."]
    groups: Sequence[HostGroup]
    rows: Sequence[FleetRow]
    odd_hosts: Sequence[OddHost]
    hosts: Annotated[Sequence[HostValue], Mark.UNWRITTEN] = ()


@dataclass(frozen=True)
class FleetCompared:
    """Groups of hosts against each other, the host being the unit."""

    schema = version(FLEET_SCHEMA)

    reading: FolderReading
    by: str
    groups: Sequence[HostGroup]
    paired: Annotated[Sequence[str], "Groups in which each host is compared with itself in the base."]
    compared: Annotated[Compared, "As of compare; a side's runs are hosts."]


@dataclass(frozen=True)
class PointRun:
    """A run: when it started (seconds since 1970), its host and facts, as texts."""

    started_s: float
    host: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Point:
    """A median of a run, with the ends of its interval; in ns of a time."""

    run: int
    label: Label
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Points:
    """Runs in order of time, and the values of each label in that order, label after label."""

    runs: tuple[PointRun, ...]
    points: tuple[Point, ...]
