"""Groups of hosts against each other: the rule of `clonometer.results.compare`, with hosts as the units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.dataset.load import ALIASES, Dataset, check_by
from clonometer.dataset.types import FleetCompared, Label
from clonometer.dataset.units import Units, groups_of, units_of
from clonometer.errors import InputError, unknown
from clonometer.results.compare.comparison import judge_pairs
from clonometer.results.compare.differences import by_importance
from clonometer.results.compare.judge import UnitRow, of_units, unit_drafts
from clonometer.results.compare.types import BOOT, ComparedPair, Difference
from clonometer.results.compare.variance import BetweenRunVariance, NoiseSource
from clonometer.results.types import LEAST_EFFECT, Estimate, LeftOut

#: So many hosts together say how far hosts are apart; of pairs two.
_LEAST_HOSTS, _LEAST_PAIRS = 3, 2


def compare_fleet(
    dataset: Dataset, by: str, *, base: str | None = None, minimum_effect: float = LEAST_EFFECT
) -> FleetCompared:
    """Compare the groups of a fleet (`clonometer.dataset.load.group_of`) with one of them, row by row.

    That is ``base``; None: the one whose first run is the oldest. ``minimum_effect`` is the least change that gets a
    verdict, as a share. Where at least half of the smaller group's hosts are in both, only these are compared, each
    with itself.

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
    first = min(groups.values(), key=lambda group: group.first) if base is None else groups[base]
    units = units_of(dataset, by)
    tables = {name: _table(units, units.names.index(name)) for name in groups}
    others = [group for group in groups.values() if group is not first]
    paired = [other.name for other in others if _are_the_same_hosts(tables[first.name], tables[other.name])]
    pairs = []
    for other in others:
        sides = {group.name: tables[group.name] for group in (first, other)}
        rows, left_out = _rows(dataset.labels, sides, is_paired=other.name in paired)
        pair = ComparedPair(
            first.name,
            other.name,
            (),
            left_out,
            _differences(dataset, by, first.name, other.name),
            n_base_runs=first.n_hosts,
            n_other_runs=other.n_hosts,
        )
        # Each pair of groups has its typical variance.
        pairs.append((unit_drafts(rows), pair))
    compared = judge_pairs(pairs, minimum_effect, BetweenRunVariance(NoiseSource.THESE_HOSTS))
    return FleetCompared(dataset.reading, by, list(groups.values()), paired, compared)


#: Label -> the logarithm of each host, samples and processes.
_Table = Mapping[int, tuple[Mapping[int, float], int, int]]


def _table(units: Units, group: int) -> _Table:
    return {
        label: (
            dict(zip(units.host[start:stop].tolist(), units.logs[start:stop].tolist(), strict=True)),
            int(units.n_samples[start:stop].sum()),
            int(units.n_processes[start:stop].sum()),
        )
        for its, label, start, stop in units.spans()
        if its == group
    }


def _rows(
    labels: Sequence[Label], sides: Mapping[str, _Table], *, is_paired: bool
) -> tuple[list[UnitRow], tuple[LeftOut, ...]]:
    least = f"{_LEAST_PAIRS} hosts in both" if is_paired else f"{_LEAST_HOSTS} hosts together"
    rows, left_out = [], []
    for index, label in enumerate(labels):
        having = {name: table[index] for name, table in sides.items() if index in table}
        is_in_both = len(having) == len(sides)
        row = _row(label, *having.values(), is_paired=is_paired) if is_in_both else None
        if row is not None:
            rows.append(row)
        elif having:
            why = f"fewer than {least}" if is_in_both else f"only in {next(iter(having))}"
            left_out.append(LeftOut(label.cell, why))
    return rows, tuple(dict.fromkeys(left_out))


def _are_the_same_hosts(before: _Table, after: _Table) -> bool:
    """Whether at least half of the smaller group's hosts, two or more, are in both groups."""
    first, second = ({host for logs, *_ in table.values() for host in logs} for table in (before, after))
    shared = len(first & second)
    return shared >= _LEAST_PAIRS and 2 * shared >= min(len(first), len(second))


def _row(label: Label, before: Any, after: Any, *, is_paired: bool) -> UnitRow | None:
    (logs, *counts), (its_logs, *its_counts) = before, after
    first, second = list(logs.values()), list(its_logs.values())
    if is_paired:
        both = sorted(logs.keys() & its_logs.keys())
        first, second = [logs[host] for host in both], [its_logs[host] for host in both]
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
            counts[text] += count
            example[text] = value
    return by_importance(
        Difference(key, *(example[side[key].most_common(1)[0][0]] for side in sides))
        for key in sorted(sides[0].keys() & sides[1].keys())
        if not sides[0][key].keys() & sides[1][key].keys() and key not in ("host.name_hash", BOOT, "mitigations")
    )
