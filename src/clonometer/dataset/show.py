"""What the hosts of a fleet measured: medians over hosts, how hosts and runs differ, and which hosts are outliers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.dataset.load import Dataset, check_by
from clonometer.dataset.types import FleetRow, FleetShown, HostValue, OddHost
from clonometer.dataset.units import Units, groups_of, units_of
from clonometer.results.types import LEAST_EFFECT
from clonometer.stats.components import odd_limit, odd_scores, variance_components
from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.segments import segment_medians


def show_fleet(dataset: Dataset, by: str, *, with_hosts: bool = False) -> FleetShown:
    """Sum up the runs of a fleet by groups of hosts (`clonometer.dataset.load.group_of`).

    ``with_hosts``: give the value of each host, too, for what draws them.

    Raises
    ------
    UsageError
        If no run has that fact.
    """
    check_by(dataset.runs, by)
    units = units_of(dataset, by)
    groups = groups_of(dataset, by)
    if not units.logs.size:
        return FleetShown(dataset.reading, by, groups, [], [])
    order = {group.name: index for index, group in enumerate(groups)}
    rows = sorted(_rows(dataset, units), key=lambda row: order[row.group])
    odd = sorted(_odd_hosts(dataset, units), key=lambda host: -abs(math.log(host.ratio)))
    hosts = _host_values(dataset, units, odd) if with_hosts else []
    return FleetShown(dataset.reading, by, groups, rows, odd, hosts)


def _host_values(dataset: Dataset, units: Units, odd: Sequence[OddHost]) -> list[HostValue]:
    names = dataset.hosts[0]
    strange = {(host.group, host.host, host.workload) for host in odd}
    values = []
    columns = (units.group, units.host, units.label, np.exp(units.logs), np.exp(deviations(units)))
    for group, host, label, value, times in zip(*(column.tolist() for column in columns), strict=True):
        about = dataset.labels[label]
        name, machine = units.names[group], names[host]
        is_odd = bool({(name, machine, None), (name, machine, about.workload)} & strange)
        values.append(HostValue(name, machine, label, about, value, times, is_odd))
    return values


def _rows(dataset: Dataset, units: Units) -> Iterator[FleetRow]:
    parts = variance_components(units.values, units.first, units.families)
    edges = np.append(units.first, units.values.size)
    for index, (group, label, start, stop) in enumerate(units.spans()):
        interval = quantile_interval(units.logs[start:stop], 0.5)
        several = stop - start > 1
        between, within = (float(part[index]) for part in (parts.between, parts.within))
        yield FleetRow(
            units.names[group],
            dataset.labels[label],
            stop - start,
            int(edges[stop] - edges[start]),
            math.exp(interval.value),
            math.exp(interval.low) if several else None,
            math.exp(interval.high) if several else None,
            None if math.isnan(between) else math.sqrt(between),
            None if math.isnan(within) else math.sqrt(within),
        )


def deviations(units: Units) -> NDArray[Any]:
    """How far each unit is from the median of its group and label, on the logarithm; shape (units,)."""
    middles = segment_medians(units.logs, units.families)
    return np.asarray(units.logs - np.repeat(middles, np.diff(units.families, append=units.logs.size)))


def _odd_hosts(dataset: Dataset, units: Units) -> list[OddHost]:
    """Find hosts that are far from the others in all rows of a workload, or in all rows there are.

    A host's distance is the median over its rows of how far each is from its group's; of all hosts of a group these
    distances have modified z-scores.
    """
    away = deviations(units)
    workloads = list(dict.fromkeys(label.workload for label in dataset.labels))
    kind = np.array([workloads.index(label.workload) for label in dataset.labels], np.int64)[units.label]
    names = dataset.hosts[0]
    tested: list[tuple[int, int | None, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]] = []
    by_workload: dict[tuple[int, int], list[float]] = {}
    for group in range(len(units.names)):
        of_group = np.flatnonzero(units.group == group)
        whole = [None] if len(workloads) > 1 else []
        for workload in [*whole, *range(len(workloads))]:
            chosen = of_group if workload is None else of_group[kind[of_group] == workload]
            if chosen.size == 0:
                continue
            hosts, shifts, counts = _shifts(units.host[chosen], away[chosen])
            if workload is not None:
                for host, shift in zip(hosts.tolist(), shifts.tolist(), strict=True):
                    by_workload.setdefault((group, host), []).append(math.exp(shift))
            scores = odd_scores(shifts)
            if scores is not None:
                tested.append((group, workload, hosts, shifts, counts, scores))
    limit = odd_limit(sum(scores.size for *_, scores in tested))
    odd = [
        OddHost(
            units.names[group],
            names[int(hosts[place])],
            None if workload is None else workloads[workload],
            math.exp(float(shifts[place])),
            float(scores[place]),
            limit,
            int(counts[place]),
            *_range(by_workload[group, int(hosts[place])] if workload is None else []),
        )
        for group, workload, hosts, shifts, counts, scores in tested
        for place in np.flatnonzero((np.abs(scores) > limit) & (np.abs(np.expm1(shifts)) >= LEAST_EFFECT)).tolist()
    ]
    return _without_parts(odd)


def _range(ratios: Sequence[float]) -> tuple[float | None, float | None]:
    return min(ratios, default=None), max(ratios, default=None)


def _shifts(hosts: NDArray[Any], away: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Each host, the median of its distances, and how many there are."""
    order = np.argsort(hosts, kind="stable")
    names, first, counts = np.unique(hosts[order], return_index=True, return_counts=True)
    return names, segment_medians(away[order], first), counts


def _without_parts(odd: Sequence[OddHost]) -> list[OddHost]:
    """Leave out what a host is in one workload where it is so in all."""
    whole = {(host.group, host.host) for host in odd if host.workload is None}
    return [host for host in odd if host.workload is None or (host.group, host.host) not in whole]
