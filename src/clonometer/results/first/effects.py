"""What a run varied, as comparisons of whole cells: mechanisms under one condition, and one axis at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonometer.families import family, is_beside, is_launch
from clonometer.results.change import Change
from clonometer.results.findings.comparing import Comparer
from clonometer.results.rows.evidence import Book, Evidence, once_per_book
from clonometer.verdicts import Direction
from clonometer.words import is_detail, stage_place


@dataclass(frozen=True)
class AxisEffect:
    """What a value of an axis does against another one, all else being equal: ``comparison.other`` has the value."""

    axis: str
    value: int | str
    base: int | str
    comparison: Change[Evidence]

    @property
    def cheaper(self) -> int | str:
        """The value of the cheaper side."""
        return self.base if self.comparison.rises else self.value


@once_per_book
def main_rows(book: Book) -> tuple[Evidence, ...]:
    """The row that stands for each cell: the end of a launch, else the first quantity that its driver names.

    Of first launches and later ones of a condition the later ones stand for it. What the instrument costs, and cells
    whose tasks ran where they liked are left out.
    """
    rows: dict[tuple[str, Hashable], Evidence] = {}
    for cell in book.cells:
        row = next(iter(_standing_for(book, cell)), None)
        if row is None or row.estimate.condition.get("placement") == "free":
            continue
        key = (row.estimate.workload, frozenset(book.changes(row.estimate).items()))
        if key not in rows or rows[key].estimate.is_first_launch:
            rows[key] = row
    return tuple(rows.values())


@once_per_book
def _standing_for(book: Book, cell: str) -> tuple[Evidence, ...]:
    """The rows that may stand for a cell, the best first: its stages from the last one, else what it costs."""
    rows = book.cells[cell].values()
    named = [row for row in rows if not (row.estimate.detail or row.estimate.signed) and row.estimate.rankable]
    if not named or family(named[0].estimate.family).instrument:
        return ()
    staged = [row for row in named if row.estimate.stage is not None and not is_detail(row.estimate.stage)]
    if staged:
        # Of stages that nobody has heard of the driver names the last one last.
        stages = sorted(dict.fromkeys(row.estimate.stage for row in staged), key=stage_place)
        return tuple(sorted(staged, key=lambda row: -stages.index(row.estimate.stage)))
    return tuple(row for row in named if not is_beside(row.estimate.family, row.estimate.quantity) and _is_cost(row))


def _is_cost(row: Evidence) -> bool:
    """Whether less of it is better: a time, or bytes, but no rate and no count of outcomes."""
    return row.is_time or row.estimate.unit == "bytes"


def _measured(row: Evidence) -> tuple[str | None, str]:
    return row.estimate.stage, row.estimate.quantity


def _at_one_stage(book: Book, rows: Sequence[Evidence]) -> list[Evidence]:
    """The rows of the same cells at the last stage that two of them have; cells without it are left out.

    A detached thread is never reaped: what it takes until its task runs is not compared with a whole launch.
    """
    by_cell: list[dict[tuple[str | None, str], Evidence]] = [{} for _ in rows]
    for standing, row in zip(by_cell, rows, strict=True):
        for each in _standing_for(book, row.cell):
            standing.setdefault(_measured(each), each)
    shared = [measured for measured, count in Counter(each for cell in by_cell for each in cell).items() if count > 1]
    if not shared:
        return []
    last = max(shared, key=lambda measured: -1 if measured[0] is None else stage_place(measured[0]))
    return [cell[last] for cell in by_cell if last in cell]


@once_per_book
def alternatives(book: Book) -> tuple[Sequence[Evidence], ...]:
    """Launches of one family under one condition, wherever two or more mechanisms were measured; plain ones first.

    A row stands for a mechanism; they are in the order of the plan, and all at one stage.
    """
    # Nobody launches tasks by the rungs of a ladder.
    launches = [row for row in _no_rungs(book) if is_launch(row.estimate.family)]
    groups: dict[Hashable, list[Evidence]] = {}
    for row in launches:
        condition = frozenset(book.changes(row.estimate).items())
        groups.setdefault((row.estimate.family, row.estimate.temperature, condition), []).append(row)
    several = [rows for rows in (_at_one_stage(book, rows) for rows in groups.values()) if len(rows) > 1]
    return tuple(sorted(several, key=lambda rows: len(book.changes(rows[0].estimate))))


def effects(comparer: Comparer) -> list[AxisEffect]:
    """Every axis that was varied, one at a time, the largest effect first: of numbers the largest alone.

    The base is the axis's default; where that was not measured, the least number or the value that comes first.
    """
    made = [effect for group in _scans(comparer.book) for effect in _of_scan(comparer, *group)]
    return sorted(made, key=lambda effect: -effect.comparison.size)


def stated_effects(comparer: Comparer) -> list[AxisEffect]:
    """Those that are sure and worth a sentence: of any choice, but of numbers only of what a parent has as it launches.

    That more work takes longer is no news.
    """
    return [
        effect
        for effect in effects(comparer)
        if effect.comparison.direction != Direction.UNKNOWN
        and (isinstance(effect.value, str) or is_launch(effect.comparison.other.estimate.family))
    ]


@once_per_book
def _scans(book: Book) -> tuple[tuple[str, Mapping[int | str, Evidence]], ...]:
    scans: dict[Hashable, tuple[str, dict[int | str, Evidence]]] = {}
    for row in _no_rungs(book):
        for axis, value in row.estimate.condition.items():
            others = frozenset(book.changes(row.estimate, axis).items())
            key = (row.estimate.workload, row.estimate.temperature, axis, others)
            scans.setdefault(key, (axis, {}))[1][value] = row
    return tuple(scan for scan in scans.values() if len(scan[1]) > 1)


def _of_scan(comparer: Comparer, axis: str, rows: Mapping[int | str, Evidence]) -> Iterator[AxisEffect]:
    numbers = [value for value in rows if isinstance(value, int)]
    usual = comparer.book.default(axis)
    base = usual if usual in rows else min(numbers) if numbers else next(iter(rows))
    if base is None:
        return
    values = [max(numbers)] if numbers else list(rows)
    for value in values:
        pair = _at_one_stage(comparer.book, (rows[value], rows[base])) if value != base else []
        comparison = comparer.compare(*pair) if pair else None
        if comparison is not None:
            yield AxisEffect(axis, value, base, comparison)


def _no_rungs(book: Book) -> list[Evidence]:
    return [row for row in main_rows(book) if not book.is_rung(row.estimate.workload)]


def plain_rows(book: Book) -> list[Evidence]:
    """The plainest cell of each workload, in the order of the plan; rungs of ladders only where there is no other."""
    plain: dict[str, Evidence] = {}
    for row in _no_rungs(book) or main_rows(book):
        before = plain.setdefault(row.estimate.workload, row)
        if len(book.changes(row.estimate)) < len(book.changes(before.estimate)):
            plain[row.estimate.workload] = row
    return list(plain.values())
