"""Arrays ready to plot: distributions, and every quantity against every number that the run varies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from clonometer.families import axis as axis_of
from clonometer.families import family, is_launch
from clonometer.plan.qualifiers import QUALIFIES
from clonometer.results.rows.groups import ObservedCell
from clonometer.results.rows.run_estimates import STAGES, RunEstimates
from clonometer.results.series.all import distinguishable_scans
from clonometer.results.series.scans import Scan, scans_of, series_of
from clonometer.results.series_types import EcdfSeries, ScanSeries
from clonometer.stats.ecdf import thin_ecdf

_MEMORY = "parent_bytes"
#: What a parent's memory is made of, and its state at each launch, with what is usual: each has a line of its own.
_OF_MEMORY = {name: each.usual for name, each in QUALIFIES.items() if each.of == _MEMORY and each.is_said}
#: What only some drivers can choose: nothing is said of it unless it was chosen.
_SELDOM = {name: each.usual for name, each in QUALIFIES.items() if each.of == _MEMORY and not each.is_said}
_USUAL = "warm"
#: Values of an axis from which on it is drawn for an API of a language.
_LEAST_OF_LANGUAGE = 3


def ecdf_series(estimates: RunEstimates, observed: Iterable[ObservedCell]) -> tuple[EcdfSeries, ...]:
    """Distributions of every launch without extra memory: all stages, placements and linkages.

    Times are rounded to whole ns and fractions to 5 digits, so that a report stays small.

    In the order of the plan; empty where nothing was launched.
    """
    groups = {(cell.cell, group.quantity.name, group.placement): group for cell in observed for group in cell.groups}
    series = []
    for estimate in estimates.rows:
        drawn_apart = all(axis_of(name).drawn_apart for name in estimates.changes(estimate))
        if not is_launch(estimate.family) or not drawn_apart:
            continue
        if estimate.stage is None or estimate.detail:
            continue
        x, fraction = thin_ecdf(groups[estimate.name].ordered.round())
        series.append(
            EcdfSeries(
                cell=estimate.cell,
                workload=estimate.workload,
                family=estimate.family,
                stage=estimate.stage,
                placement=estimate.placement,
                temperature=estimate.temperature,
                x_ns=tuple(x.tolist()),
                fraction=tuple(round(share, 5) for share in fraction.tolist()),
            )
        )
    return tuple(series)


def scan_series(estimates: RunEstimates) -> tuple[ScanSeries, ...]:
    """Every quantity against every numeric axis that the run scans, ready to plot.

    Launches against the parent's memory first, by workload and stage; then the others in the order of the plan, but
    for those that a module of this room tells in its own way (``DISTINGUISHABLE``). Details of an event are none of its
    phases. A series has at least two values of its axis.
    """
    memory, others = [], []
    distinguishable = distinguishable_scans(estimates)
    for scan in scans_of(estimates):
        first = scan.points[0]
        if id(scan) in distinguishable or _is_of_an_api_alone(scan):
            continue
        if estimates.about(first.workload).phases:
            others += [] if first.detail else [replace(series_of(estimates, scan), phase=True)]
        elif scan.axis == _MEMORY and first.stage in STAGES and set(scan.condition) <= set(_OF_MEMORY):
            memory.append(_memory_series(estimates, scan))
        else:
            others.append(series_of(estimates, scan))
    return (*_usual_temperature(memory), *others)


def _is_of_an_api_alone(scan: Scan) -> bool:
    """Whether it is one of the many APIs of languages with two values of the axis: a table says as much as a line."""
    return len(scan.points) < _LEAST_OF_LANGUAGE and bool(family(scan.points[0].family).language_tasks)


def _memory_series(estimates: RunEstimates, scan: Scan) -> ScanSeries:
    """Launches against the parent's memory: each kind and state of its pages is a line, the usual ones too."""
    # The first point may have no memory, which is of no kind.
    last = scan.points[-1].condition
    kinds = {axis: last.get(axis, default) for axis, default in _OF_MEMORY.items()}
    kinds |= {axis: last[axis] for axis, usual in _SELDOM.items() if last.get(axis, usual) != usual}
    return replace(series_of(estimates, scan), condition=kinds)


def _usual_temperature(series: Sequence[ScanSeries]) -> list[ScanSeries]:
    """Of each workload the warm launches, or where there are none the cold ones; by workload, then by stage."""
    usual: dict[str, str | None] = {}
    for line in series:
        if line.workload not in usual or line.temperature == _USUAL:
            usual[line.workload] = line.temperature
    places = list(usual)
    kept = [line for line in series if line.temperature == usual[line.workload]]
    return sorted(kept, key=lambda line: (places.index(line.workload), STAGES.index(line.stage or "")))
