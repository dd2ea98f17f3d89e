"""What a run varied, as comparisons of whole cells: mechanisms under one condition, and one axis at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonometer.families import family, is_beside, is_launch
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run
from clonometer.verdicts import Direction
from clonometer.words import is_detail, stage_place


@dataclass(frozen=True)
class AxisEffect:
    """What a value of an axis does against another one, all else being equal: ``comparison.other`` has the value."""

    axis: str
    value: int | str
    base: int | str
    comparison: Change[RunEstimate]

    @property
    def cheaper(self) -> int | str:
        """The value of the cheaper side."""
        return self.base if self.comparison.rises else self.value


@cached_per_run
def main_rows(estimates: RunEstimates) -> tuple[RunEstimate, ...]:
    """The row that stands for each cell: the end of a launch, else the first quantity that its driver names.

    Of first launches and later ones of a condition the later ones stand for it. What the instrument costs, and cells
    whose tasks ran where they liked are left out.
    """
    rows: dict[tuple[str, Hashable], RunEstimate] = {}
    for cell in estimates.cells:
        row = next(iter(_standing_for(estimates, cell)), None)
        if row is None or row.condition.get("placement") == "free":
            continue
        key = (row.workload, frozenset(estimates.changes(row).items()))
        if key not in rows or rows[key].is_first_launch:
            rows[key] = row
    return tuple(rows.values())


@cached_per_run
def _standing_for(estimates: RunEstimates, cell: str) -> tuple[RunEstimate, ...]:
    """The rows that may stand for a cell, the best first: its stages from the last one, else what it costs."""
    rows = estimates.cells[cell].values()
    named = [row for row in rows if not (row.detail or row.signed) and row.rankable]
    if not named or family(named[0].family).instrument:
        return ()
    staged = [row for row in named if row.stage is not None and not is_detail(row.stage)]
    if staged:
        # Of stages that nobody has heard of the driver names the last one last.
        stages = sorted(dict.fromkeys(row.stage for row in staged), key=stage_place)
        return tuple(sorted(staged, key=lambda row: -stages.index(row.stage)))
    return tuple(row for row in named if not is_beside(row.family, row.quantity) and _is_cost(row))


def _is_cost(row: RunEstimate) -> bool:
    """Whether less of it is better: a time, or bytes, but no rate and no count of outcomes."""
    return row.is_time or row.unit == "bytes"


def _measured(row: RunEstimate) -> tuple[str | None, str]:
    return row.stage, row.quantity


def _at_one_stage(estimates: RunEstimates, rows: Sequence[RunEstimate]) -> list[RunEstimate]:
    """The rows of the same cells at the last stage that two of them have; cells without it are left out.

    A detached thread is never reaped: what it takes until its task runs is not compared with a whole launch.
    """
    by_cell: list[dict[tuple[str | None, str], RunEstimate]] = [{} for _ in rows]
    for standing, row in zip(by_cell, rows, strict=True):
        for each in _standing_for(estimates, row.cell):
            standing.setdefault(_measured(each), each)
    shared = [measured for measured, count in Counter(each for cell in by_cell for each in cell).items() if count > 1]
    if not shared:
        return []
    last = max(shared, key=lambda measured: -1 if measured[0] is None else stage_place(measured[0]))
    return [cell[last] for cell in by_cell if last in cell]


@cached_per_run
def alternatives(estimates: RunEstimates) -> tuple[Sequence[RunEstimate], ...]:
    """Launches of one family under one condition, wherever two or more mechanisms were measured; plain ones first.

    A row stands for a mechanism; they are in the order of the plan, and all at one stage.
    """
    # Nobody launches tasks by the rungs of a ladder.
    # Languages are compared with C, each for the same thing.
    launches = [row for row in _no_rungs(estimates) if is_launch(row.family) and not family(row.family).language_tasks]
    groups: dict[Hashable, list[RunEstimate]] = {}
    for row in launches:
        condition = frozenset(estimates.changes(row).items())
        groups.setdefault((row.family, row.temperature, condition), []).append(row)
    several = [rows for rows in (_at_one_stage(estimates, rows) for rows in groups.values()) if len(rows) > 1]
    return tuple(sorted(several, key=lambda rows: len(estimates.changes(rows[0]))))


def effects(tests: PairwiseTests) -> list[AxisEffect]:
    """Every axis that was varied, one at a time, the largest effect first: of numbers the largest alone.

    The base is the axis's default; where that was not measured, the least number or the value that comes first.
    """
    made = [effect for group in _scans(tests.estimates) for effect in _of_scan(tests, *group)]
    return sorted(made, key=lambda effect: -effect.comparison.size)


def stated_effects(tests: PairwiseTests) -> list[AxisEffect]:
    """Those that are sure and worth a sentence: of any choice, but of numbers only of what a parent has as it launches.

    That more work takes longer is no news.
    """
    return [
        effect
        for effect in effects(tests)
        if effect.comparison.direction != Direction.UNKNOWN
        and (isinstance(effect.value, str) or is_launch(effect.comparison.other.family))
    ]


@cached_per_run
def _scans(estimates: RunEstimates) -> tuple[tuple[str, Mapping[int | str, RunEstimate]], ...]:
    scans: dict[Hashable, tuple[str, dict[int | str, RunEstimate]]] = {}
    for row in _no_rungs(estimates):
        for axis, value in row.condition.items():
            others = frozenset(estimates.changes(row, axis).items())
            key = (row.workload, row.temperature, axis, others)
            scans.setdefault(key, (axis, {}))[1][value] = row
    return tuple(scan for scan in scans.values() if len(scan[1]) > 1)


def _of_scan(tests: PairwiseTests, axis: str, rows: Mapping[int | str, RunEstimate]) -> Iterator[AxisEffect]:
    numbers = [value for value in rows if isinstance(value, int)]
    usual = tests.estimates.default(axis)
    base = usual if usual in rows else min(numbers) if numbers else next(iter(rows))
    if base is None:
        return
    values = [max(numbers)] if numbers else list(rows)
    for value in values:
        pair = _at_one_stage(tests.estimates, (rows[value], rows[base])) if value != base else []
        comparison = tests.compare(*pair) if pair else None
        if comparison is not None:
            yield AxisEffect(axis, value, base, comparison)


def _no_rungs(estimates: RunEstimates) -> list[RunEstimate]:
    return [row for row in main_rows(estimates) if not estimates.is_rung(row.workload)]


def plain_rows(estimates: RunEstimates) -> list[RunEstimate]:
    """The plainest cell of each workload, in the order of the plan; rungs of ladders only where there is no other."""
    plain: dict[str, RunEstimate] = {}
    for row in _no_rungs(estimates) or main_rows(estimates):
        before = plain.setdefault(row.workload, row)
        if len(estimates.changes(row)) < len(estimates.changes(before)):
            plain[row.workload] = row
    return list(plain.values())
