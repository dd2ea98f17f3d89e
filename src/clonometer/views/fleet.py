"""Arranges what a folder of runs says for every view: what was read, groups, rows, outliers."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.dataset.types import FleetRow, FleetShown, FolderReading, HostGroup, LeftOutFile, OddHost
from clonometer.results.types import Estimate
from clonometer.units import table_unit
from clonometer.views.labels import label_parts, label_text
from clonometer.views.rows import is_part, median_text, share_text, value_unit
from clonometer.views.table import INTERVAL_HEADING, Column, Table, label_column
from clonometer.words import counted, mechanism_name, stage_name

_NAMED = 2
_LEAST_FOR_ODD = 8
_TWO_HOSTS = 2


def reading_text(reading: FolderReading) -> str:
    """Say how many runs and hosts were read."""
    runs, hosts = counted(reading.n_runs, "run"), counted(reading.n_hosts, "host")
    return f"{runs} of {hosts} in {reading.folder}."


def reading_notes(reading: FolderReading) -> list[str]:
    """Say what of a folder was left out, and what is not as it should be."""
    partial = [f"{counted(reading.partial, 'run')} did not end as planned; what they have is counted."]
    return [
        *_files(reading.damaged, "file is damaged and left out", "files are damaged and left out"),
        *_files(reading.duplicates, "file is a copy and left out", "files are copies and left out"),
        *(partial if reading.partial else []),
        *_files(
            reading.clocks_apart,
            "run has a clock that disagrees with this machine's",
            "runs have clocks that disagree with this machine's",
        ),
    ]


def few_hosts(reading: FolderReading) -> str:
    """What to do where two hosts are too few to be the units of a comparison; else empty."""
    if reading.n_hosts != _TWO_HOSTS:
        return ""
    return "Of two hosts, 'clonometer compare BEFORE AFTER' says how two runs differ, and in which settings."


def _files(files: Sequence[LeftOutFile], one_file: str, many_files: str) -> list[str]:
    if not files:
        return []
    named = "; ".join(f"{file.path}: {file.reason}" for file in files[:_NAMED])
    more = f"; and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return [f"{len(files):,} {one_file if len(files) == 1 else many_files} ({named}{more})."]


def group_text(group: HostGroup) -> str:
    """Name a group, with its hosts, its runs and when they were made."""
    days = group.first[:10] if group.first[:10] == group.last[:10] else f"{group.first[:10]} to {group.last[:10]}"
    return f"{group.name}: {counted(group.n_hosts, 'host')}, {counted(group.n_runs, 'run')}, {days}"


def fleet_table(rows: Sequence[FleetRow]) -> Table:
    """The rows of a group: the median over hosts with its interval, and how hosts and runs differ."""
    estimates = [row.label.estimate((row.median, row.low, row.high), row.n_runs, row.n_hosts) for row in rows]
    unit = table_unit([estimate.median_ns for estimate in estimates])
    texts = [median_text(estimate, unit) for estimate in estimates]
    until = [_until(row, estimate) for row, estimate in zip(rows, estimates, strict=True)]
    return Table(
        [
            label_column(label_parts(row.label) for row in rows),
            Column("until", until),
            Column("median", [text.value for text in texts], "point"),
            Column(INTERVAL_HEADING, [text.interval for text in texts], "range", drop=3, optional=True),
            Column("between hosts", [share_text(row.between_hosts) for row in rows], "point", optional=True),
            Column("within host", [share_text(row.within_host) for row in rows], "point", drop=2, optional=True),
            Column("hosts", [f"{row.n_hosts:,}" for row in rows], "point", drop=1),
        ],
        title=f"Medians over hosts in {unit}.",
    )


def _until(row: FleetRow, estimate: Estimate) -> str:
    name = stage_name(row.label.stage, row.label.quantity)
    return name if row.label.is_time else f"{name}, {value_unit(estimate) or row.label.unit}"


def odd_text(host: OddHost, several_groups: bool) -> str:
    """Say in what a host is an outlier."""
    among = f" among {host.group}" if several_groups else ""
    middle = _times(host.ratio)
    if host.workload is not None:
        what, median = f"{mechanism_name(host.workload)} takes {middle}", ""
    else:
        # One number for all workloads would be true of hardly any of them.
        ends = [_times(end) for end in (host.least, host.most) if end is not None]
        what, median = f"its workloads take {' to '.join(dict.fromkeys(ends)) or middle}", f"median {middle}, "
    return (
        f"{host.host}{among}: {what} times as long as on the median host ({median}score {host.score:.1f}, "
        f"limit {host.limit:.1f}, {counted(host.n_rows, 'row')})"
    )


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if 0.1 < ratio < 10 else f"{ratio:.3g}"


def hosts_text(shown: FleetShown) -> str:
    """Say which hosts are outliers, or why nobody can know, and by what hosts differ most."""
    names = list(dict.fromkeys(host.host for host in shown.odd_hosts))
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        odd = f"{', '.join(names[:_NAMED])}{more} {'is an outlier' if len(names) == 1 else 'are outliers'}."
    elif max((group.n_hosts for group in shown.groups), default=0) < _LEAST_FOR_ODD:
        odd = f"Outlier detection needs {_LEAST_FOR_ODD} hosts per group."
    else:
        odd = "No host is an outlier."
    spread = [(row.between_hosts, row) for row in shown.rows if row.between_hosts is not None]
    if not spread:
        return odd
    # Whole launches before their parts, which differ with them.
    between, row = max(spread, key=lambda each: (not is_part(each[1].label.stage), each[0]))
    within = "" if row.within_host is None else f", runs of one host by {share_text(row.within_host)}"
    among = f" among {row.group}" if len(shown.groups) > 1 else ""
    return f"{odd} Hosts differ most in {label_text(row.label)}{among}: by {share_text(between)}{within}."
