"""The tables of the first screen: a line a mechanism and condition, in a unit that suits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clonometer.families import family as family_of
from clonometer.grouping import group_by
from clonometer.results.types import Estimate
from clonometer.units import format_share, table_unit
from clonometer.views.estimate_tables import is_pinned
from clonometer.views.rows import EstimateRow, median_text, plain_figure, shared_phrases, value_unit
from clonometer.views.table import DRIFTS, INTERVAL_HEADING, MISSING, Column, Table
from clonometer.words import STAGE_ORDER, stage_name, stage_place

_END = STAGE_ORDER[-1]
#: What the column of first launches is called, as in JSON.
_COLD = "cold"
_BEST = "best"
#: Stages shown beside the end of a launch, the one nearest to it counted last.
_MOST_STAGES = 2
_LEAST_LABEL, _ONE_LINE = 12, 24
_PLUS_MINUS = "±95%"
#: Characters of the longest bar, and how many times as long as all shorter ones what has no room in it takes.
_BAR, _FAR = 20, 10.0
_SETTLED, _OPEN = "✓", "~"


@dataclass(frozen=True)
class ScreenLine:
    """One mechanism under one condition, as a line of the table.

    ``main`` is what it takes: the end of a launch, warm where that was measured; else one quantity. ``first`` is the
    same of first launches, ``stages`` what lies before the end.
    """

    row: EstimateRow
    main: Estimate | None
    first: Estimate | None = None
    stages: tuple[Estimate, ...] = ()

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All that it shows."""
        return tuple(each for each in (self.main, self.first, *self.stages) if each is not None)

    @property
    def cells(self) -> frozenset[str]:
        """The cells that it shows."""
        return frozenset(estimate.cell for estimate in self.row.estimates.values())

    @property
    def unit(self) -> str:
        """The unit that suits what it takes."""
        main = self.main or self.first
        assert main is not None
        if main.value is not None or main.unit == "count":
            return value_unit(main)
        return table_unit([None if main.median_ns is None else abs(main.median_ns)])


def lines_of(rows: Sequence[EstimateRow]) -> list[ScreenLine]:
    """Gather rows to lines, in their order: those of a launch to one, anything else to one a quantity."""
    groups: dict[object, list[EstimateRow]] = {}
    for row in rows:
        key = () if row.any_estimate.stage is not None else (row.any_estimate.quantity,)
        groups.setdefault((row.group, row.family, *key), []).append(row)
    return [_line(members) for members in groups.values()]


def _line(members: Sequence[EstimateRow]) -> ScreenLine:
    end = members[-1]
    main = end.estimates.get("warm") or end.estimates.get(None)
    temperature = main.temperature if main is not None else "cold"
    shown = [row.estimates.get(temperature) for row in members[:-1] if row.rankable and not row.any_estimate.detail]
    stages = tuple(estimate for estimate in shown if estimate is not None)
    return ScreenLine(end, main, end.estimates.get("cold"), stages)


def first_tables(
    lines: Sequence[ScreenLine], *, best: bool = False, bars: bool = False, marks: bool = False
) -> list[Table]:
    """Make a table of each family, all with the same columns; of launches with their stages and first launches.

    With ``best`` the shortest launch stands beside the median. With ``bars`` launches are drawn, and how far their
    intervals reach is a share of the median. With ``marks`` a tick says that a line is settled.
    """
    by_family = group_by((line.row.family, line) for line in lines)
    drawn = _bars(lines) if bars else {}
    return [_family_table(family, members, drawn, best=best, marks=marks) for family, members in by_family.items()]


def _bars(lines: Sequence[ScreenLine]) -> dict[int, str]:
    """A bar for each launch, by the line's id; what is far beyond all shorter ones ends in an arrow."""
    shown = [(line, line.main or line.first) for line in lines if line.row.any_estimate.stage]
    known = {id(line): main.median_ns for line, main in shown if main is not None and main.median_ns}
    longest = 0.0
    for value in sorted(known.values()):
        if longest and value > _FAR * longest:
            break
        longest = value
    return {name: _bar(value / longest) for name, value in known.items()} if len(known) > 1 else {}


def _bar(share: float) -> str:
    return "█" * max(1, round(share * _BAR)) if share <= 1 else "█" * (_BAR - 1) + "→"


def _plus_minus(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    share = estimate.relative_half_width
    return format_share(share) if share is not None else DRIFTS if estimate.drift is not None else MISSING


def _family_table(
    family: str, lines: Sequence[ScreenLine], bars: Mapping[int, str], *, best: bool, marks: bool
) -> Table:
    ends = dict.fromkeys(line.row.any_estimate.stage for line in lines if line.row.any_estimate.stage)
    # The last one of all; of stages that nobody has heard of the driver names the last one last.
    end = max(reversed(ends), key=stage_place, default=None)
    # Where there are no later launches the first ones are what was measured.
    only_first = all(line.main is None for line in lines)
    mains = [line.first if only_first else line.main for line in lines]
    texts = [median_text(main, line.unit) if main else None for main, line in zip(mains, lines, strict=True)]
    least = [main.min_ns if best and main is not None else None for main in mains]
    bests = ["" if ns is None else plain_figure(ns, line.unit) for ns, line in zip(least, lines, strict=True)]
    names = _stages(lines)
    shared = shared_phrases([line.row for line in lines])
    labels = [_label(line, end, shared) for line in lines]
    if marks:
        settled = [main is not None and main.is_settled for main in mains]
        labels = [f"{_SETTLED if is_done else _OPEN} {label}" for is_done, label in zip(settled, labels, strict=True)]
    drawn = [bars.get(id(line), "") for line in lines]
    interval = Column(INTERVAL_HEADING, [text.interval if text else "" for text in texts], "range", drop=5, dim=True)
    if any(drawn):
        interval = Column(_PLUS_MINUS, [_plus_minus(main) for main in mains], "right", drop=5, dim=True)
    columns = [
        # Columns go before a row takes two lines, as long as its label is no sentence.
        Column("", labels, least=max(_LEAST_LABEL, *(len(each) for each in labels if len(each) <= _ONE_LINE), 0)),
        Column("", [line.unit for line in lines]),
        Column(_heading(end), [text.value if text else "" for text in texts], "point"),
        Column(_BEST if best else "", bests, "point", drop=6 if bars else 3, optional=True),
        interval,
    ]
    for index in range(_MOST_STAGES):
        name = names[index] if index < len(names) else ""
        figures = [_figure(line, next((each for each in line.stages if each.stage == name), None)) for line in lines]
        columns.append(Column(stage_name(name) if name else "", figures, "point", drop=1 + index, optional=True))
    firsts = ["" if only_first else _figure(line, line.first) for line in lines]
    columns.append(Column(_COLD if any(firsts) else "", firsts, "point", drop=4, optional=True))
    columns.append(Column("", drawn, drop=_MOST_STAGES + 1, optional=True))
    return Table(columns, ", ".join([family_of(family).plain_title or family_of(family).title, *shared]))


def _label(line: ScreenLine, end: str | None, shared: Sequence[str]) -> str:
    """What a line is about: the mechanism with its condition, and what was measured where the heading says another."""
    label = ", ".join(line.row.label_parts(shared))
    return label if end is not None and line.row.any_estimate.stage == end else f"{label}: {line.row.stage}"


def _heading(end: str | None) -> str:
    return "median" if end is None else stage_name(end)


def _stages(lines: Sequence[ScreenLine]) -> list[str]:
    """The stages that have a column: when the call returns, and the last one before the end."""
    shown = dict.fromkeys(each.stage for line in lines for each in line.stages if each.stage is not None)
    known = sorted(shown, key=stage_place)
    return known if len(known) <= _MOST_STAGES else [known[0], known[-1]]


def _figure(line: ScreenLine, estimate: Estimate | None) -> str:
    return "" if estimate is None else median_text(estimate, line.unit).value


def glosses(lines: Sequence[ScreenLine], dropped: Sequence[str]) -> list[str]:
    """Explain the headings that a newcomer does not know, but for those of columns that were dropped."""
    launches = [line for line in lines if line.row.any_estimate.stage]
    texts = []
    if any(line.row.any_estimate.stage == _END for line in launches):
        texts.append("reaped: until waited for")
    if launches and all(line.main is None for line in launches):
        texts.append("all are first launches in a process")
    elif any(line.first is not None for line in launches) and _COLD not in dropped:
        texts.append("cold: first launch in a process")
    if is_pinned([line.row for line in launches]):
        texts.append("pinned to one CPU")
    elif {line.row.any_estimate.condition.get("placement") for line in launches} == {"pinned", "free"}:
        texts.append("free: on any CPU; the others are pinned to one")
    return texts


def pick_lines(lines: Sequence[ScreenLine], spoken: Sequence[str], room: int, *, named: bool) -> list[ScreenLine]:
    """Choose lines where not all have room, in their order.

    First the cells of the answer, then the plainest condition of each mechanism, then the others: in the order of the
    plan where the user ``named`` them, else those with the fewest axes off their default. A cell's further quantities
    come last. ``spoken`` are the cells of the answer; ``room`` is the most lines. What else is said of a run differs
    from one to the next: the lines of a plan are always the same.
    """
    # The first of a cell's quantities; others have room when all cells have.
    heads = list({(line.row.family, line.row.group): line for line in reversed(lines)}.values())[::-1]
    nearest: dict[str, ScreenLine] = {}
    for line in heads:
        if line.row.distance < nearest.setdefault(line.row.workload, line).row.distance:
            nearest[line.row.workload] = line
    answer = [line for cell in spoken for line in heads if cell in line.cells]
    rest = heads if named else sorted(heads, key=_plainness)
    ranked = list({id(line): line for line in (*answer, *nearest.values(), *rest, *lines)}.values())
    chosen = {id(line) for line in ranked[:room]}
    return [line for line in lines if id(line) in chosen]


def _plainness(line: ScreenLine) -> tuple[bool, int]:
    """What ran where it liked comes after all that did not."""
    return line.row.any_estimate.condition.get("placement") == "free", line.row.distance


def hidden_rows(rows: Sequence[EstimateRow], lines: Sequence[ScreenLine]) -> int:
    """How many rows of ``--wide`` no line shows."""
    shown = {id(estimate) for line in lines for estimate in line.estimates}
    return sum(not any(id(estimate) in shown for estimate in row.estimates.values()) for row in rows)
