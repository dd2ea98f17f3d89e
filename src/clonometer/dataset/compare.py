"""Groups of hosts against each other: the rule of `clonometer.results.compare`, with hosts as the units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clonometer.dataset.load import ALIASES, Dataset, check_by
from clonometer.dataset.types import FleetCompared, HostGroup, Label
from clonometer.dataset.units import Units, groups_of, units_of
from clonometer.errors import InputError, unknown
from clonometer.results.compare.comparison import ERROR_RATE, shifts_of
from clonometer.results.compare.differences import by_importance
from clonometer.results.compare.judge import Draft, UnitRow, judged, n_tests, of_units, unit_drafts
from clonometer.results.compare.moments import OF_HOSTS
from clonometer.results.compare.types import Compared, ComparedPair, Difference, LeftOut
from clonometer.results.types import LEAST_EFFECT, Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: So many hosts together say how far hosts are apart; of pairs two.
_LEAST_HOSTS, _LEAST_PAIRS = 3, 2


@dataclass(frozen=True)
class _Sides:
    """A group against the base, before anything is judged."""

    base: HostGroup
    other: HostGroup
    is_paired: bool
    rows: Sequence[UnitRow]
    left_out: Sequence[LeftOut]


def compare_groups_of_hosts(
    dataset: Dataset, by: str, *, base: str | None = None, minimum_effect: float = LEAST_EFFECT
) -> FleetCompared:
    """Compare the groups of a fleet with one of them, row by row.

    Parameters
    ----------
    by
        What groups hosts, as of `clonometer.dataset.load.group_of`.
    base
        The group that the others are compared with; None: the one whose first run is the oldest.
    minimum_effect
        The least change that gets a verdict, as a share.

    Returns
    -------
    FleetCompared
        Where at least half of the smaller group's hosts are in both, only these are compared, each with itself.

    Raises
    ------
    UsageError
        If no run has that fact, or there is no such group.
    InputError
        If there is one group only.
    """
    check_by(dataset.runs, by)
    groups = {group.name: group for group in groups_of(dataset, by)}
    if base is not None and base not in groups:
        raise unknown("group", base, list(groups))
    if len(groups) < 2:
        raise InputError(
            f"all hosts of {dataset.reading.folder} have {ALIASES.get(by, by)}={next(iter(groups))}",
            "compare by something in which they differ: --by class, microcode, mitigations, libc",
        )
    first = min(groups.values(), key=lambda group: group.first).name if base is None else base
    units = units_of(dataset, by)
    tables = {name: _table(units, units.names.index(name)) for name in groups}
    sides = [
        _sides(dataset.labels, groups[first], other, tables[first], tables[other.name])
        for other in groups.values()
        if other.name != first
    ]
    listed: list[Draft] = []
    for side in sides:
        # Each pair of groups has its typical variance.
        listed += unit_drafts(side.rows)
    rows = judged(listed, minimum_effect=minimum_effect, error_rate=ERROR_RATE)
    pairs = []
    for side in sides:
        of_side, rows = tuple(rows[: len(side.rows)]), rows[len(side.rows) :]
        differing = _differences(dataset, by, side.base.name, side.other.name)
        pairs.append(
            ComparedPair(
                side.base.name,
                side.other.name,
                of_side,
                tuple(side.left_out),
                differing,
                shifts_of(of_side),
                side.base.n_hosts,
                side.other.n_hosts,
            )
        )
    compared = Compared(tuple(pairs), minimum_effect, ERROR_RATE, n_tests(listed), OF_HOSTS)
    paired = [side.other.name for side in sides if side.is_paired]
    return FleetCompared(dataset.reading, by, list(groups.values()), paired, compared)


#: Label -> hosts, and for each its logarithm, samples and processes.
_Table = Mapping[int, tuple[list[int], "NDArray[Any]", int, int]]


def _table(units: Units, group: int) -> _Table:
    return {
        label: (
            units.host[start:stop].tolist(),
            units.logs[start:stop],
            int(units.n_samples[start:stop].sum()),
            int(units.n_processes[start:stop].sum()),
        )
        for its, label, start, stop in units.spans()
        if its == group
    }


def _sides(labels: Sequence[Label], base: HostGroup, other: HostGroup, before: _Table, after: _Table) -> _Sides:
    rows, left_out = [], []
    is_paired = _are_the_same_hosts(before, after)
    for place, label in enumerate(labels):
        if place not in before or place not in after:
            if place in before or place in after:
                left_out.append(LeftOut(label.cell, f"only in {base.name if place in before else other.name}"))
            continue
        row = _row(label, before[place], after[place], is_paired)
        if row is None:
            least = f"{_LEAST_PAIRS} hosts in both" if is_paired else f"{_LEAST_HOSTS} hosts together"
            left_out.append(LeftOut(label.cell, f"fewer than {least}"))
        else:
            rows.append(row)
    return _Sides(base, other, is_paired, rows, list(dict.fromkeys(left_out)))


def _are_the_same_hosts(before: _Table, after: _Table) -> bool:
    """Whether at least half of the smaller group's hosts, two or more, are in both groups."""
    first, second = ({host for hosts, *_ in table.values() for host in hosts} for table in (before, after))
    shared = len(first & second)
    return shared >= _LEAST_PAIRS and 2 * shared >= min(len(first), len(second))


def _row(label: Label, before: Any, after: Any, is_paired: bool) -> UnitRow | None:
    (hosts, logs, *counts), (its_hosts, its_logs, *its_counts) = before, after
    first, second = logs.tolist(), its_logs.tolist()
    if is_paired:
        both = sorted(set(hosts) & set(its_hosts))
        places, its_places = dict(zip(hosts, first, strict=True)), dict(zip(its_hosts, second, strict=True))
        first, second = [places[host] for host in both], [its_places[host] for host in both]
        if len(both) < _LEAST_PAIRS:
            return None
    elif len(first) + len(second) < _LEAST_HOSTS:
        return None
    return UnitRow(_side(label, first, counts), _side(label, second, its_counts), first, second, is_paired)


def _side(label: Label, logs: Sequence[float], counts: Sequence[int]) -> Estimate:
    return of_units(label.estimate((1.0, None, None), *counts), logs)


def _differences(dataset: Dataset, by: str, base: str, other: str) -> tuple[Difference, ...]:
    """Facts of which no host of one group has a value that a host of the other has: what may explain a change."""
    sides: list[dict[str, Counter[str]]] = [{}, {}]
    example: dict[str, Any] = {}
    # Thousands of runs share the facts of some hosts.
    alike = Counter((name, id(run.facts)) for run, name in zip(dataset.runs, dataset.groups(by), strict=True))
    facts_of = {id(run.facts): run.facts for run in dataset.runs}
    for (name, its), count in alike.items():
        if name not in (base, other):
            continue
        for key, value in facts_of[its].items():
            text = str(value)
            counts = sides[name == other].setdefault(key, Counter())
            counts[text] = counts.get(text, 0) + count
            example[text] = value
    return by_importance(
        Difference(key, *(example[side[key].most_common(1)[0][0]] for side in sides))
        for key in sorted(sides[0].keys() & sides[1].keys())
        if not sides[0][key].keys() & sides[1][key].keys() and key not in ("host.name_hash", "mitigations")
    )
