"""Rows of many runs to values of hosts: the one way in which fleets are shown and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.dataset.load import Dataset
from clonometer.dataset.types import HostGroup
from clonometer.results.rows.groups import segment_starts
from clonometer.stats.components import unit_means


@dataclass(frozen=True)
class Units:
    """Hosts as units: for each group, kind of row and host the mean over its runs, and its runs.

    Sorted by group, label and host. A kind of row of which any value is zero or below has no logarithm, and is left
    out.

    Attributes
    ----------
    names
        The groups; ``group`` has places in it.
    group, label, host
        Of each unit.
    logs
        Of each unit: the mean of the logarithms of its runs' medians.
    n_samples, n_processes
        Of each unit, over its runs.
    values, first
        The logarithms of all runs, unit after unit, and where each unit starts.
    families
        Where each pair of group and label starts among the units.
    """

    names: Sequence[str]
    group: NDArray[Any]
    label: NDArray[Any]
    host: NDArray[Any]
    logs: NDArray[Any]
    n_samples: NDArray[Any]
    n_processes: NDArray[Any]
    values: NDArray[Any]
    first: NDArray[Any]
    families: NDArray[Any]

    def spans(self) -> list[tuple[int, int, int, int]]:
        """HostGroup, label, and where its units start and end, of each family."""
        edges = [*self.families.tolist(), self.logs.size]
        return [(int(self.group[start]), int(self.label[start]), start, stop) for start, stop in pairwise(edges)]


def units_of(dataset: Dataset, by: str) -> Units:
    """Find the units of a dataset: a host that is in several groups (`Dataset.groups`) is one in each."""
    rows = dataset.rows
    names, places = dataset.numbered_groups(by)
    group_of_run = np.array(places, np.int64)
    positive = np.ones(len(dataset.labels), bool)
    positive[rows["label"][~(rows["value"] > 0)]] = False
    kept = positive[rows["label"]]
    run, label, value = (rows[name][kept] for name in ("run", "label", "value"))
    hosts, host_of_run = dataset.hosts
    key = (group_of_run[run] * len(dataset.labels) + label) * len(hosts) + host_of_run[run]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = segment_starts(key)
    family, host = np.divmod(key[first], max(len(hosts), 1))
    group, label = np.divmod(family, max(len(dataset.labels), 1))
    values = np.log(value[order])
    n_samples, n_processes = (
        np.add.reduceat(rows[name][kept][order].astype(np.int64), first) if first.size else np.empty(0, np.int64)
        for name in ("n_samples", "n_processes")
    )
    logs = unit_means(values, first) if first.size else values
    return Units(names, group, label, host, logs, n_samples, n_processes, values, first, segment_starts(family))


def groups_of(dataset: Dataset, by: str) -> list[HostGroup]:
    """The groups, largest first; those of as many hosts by when they began."""
    members: dict[str, list[int]] = {}
    for place, name in enumerate(dataset.groups(by)):
        members.setdefault(name, []).append(place)
    groups = [
        HostGroup(
            name,
            len({dataset.runs[place].host for place in places}),
            len(places),
            dataset.runs[places[0]].started,
            dataset.runs[places[-1]].started,
        )
        for name, places in members.items()
    ]
    return sorted(groups, key=lambda group: (-group.n_hosts, group.first))
