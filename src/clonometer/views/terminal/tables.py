"""The terminal's tables: the short one, temperatures side by side, and the wide one, a row an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import Estimate
from clonometer.views.labels import family_name
from clonometer.views.rows import (
    Figure,
    Row,
    families,
    figure,
    launches_unit,
    plain_figure,
    quantity_label,
    row_unit,
    temperatures,
)
from clonometer.views.terminal.text import clean, elide, paint

GAP = "  "
INTERVAL_HEADING = "95% interval"
LABEL_CAP = 20
#: Columns of the wide table that go first when the terminal is too narrow.
DROPPABLE = ("MHz", "processes", "n", "min", "p99")


@dataclass(frozen=True)
class Block:
    """Cells of one column: texts as wide as each other, heading first."""

    texts: list[str]
    style: str | None = None

    @property
    def width(self) -> int:
        """The width all texts have."""
        return len(self.texts[0])


def short_table(rows: Sequence[Row], width: int, colour: bool) -> list[str]:
    """Draw the short table: for each family a heading and a line a mechanism and stage.

    Where the columns do not fit in ``width``, the cold interval goes first, then all but the first
    temperature; what is still too long is cut.
    """
    split = families(rows)
    # What has no temperature stands in the first column, under a heading of its own.
    warmths: list[str | None] = [warmth for warmth in temperatures(rows) if warmth is not None] or [None]
    labels = {family: _labels(members) for family, members in split.items()}
    plans = [(warmths, True), (warmths, False), (warmths[:1], True)]
    for shown, all_intervals in plans:
        lines, natural = _draw_short(split, labels, shown, all_intervals, colour)
        if natural <= width:
            return lines
    return [elide(line, width) for line in _draw_short(split, labels, warmths[:1], True, False)[0]]


def _labels(rows: Sequence[Row]) -> list[str]:
    """The label column: a long label runs down the lines of its group, which has one for each stage."""
    texts: list[str] = []
    for place, row in enumerate(rows):
        if place and rows[place - 1].group == row.group:
            continue
        size = sum(other.group == row.group for other in rows)
        pieces = [clean(row.label)]
        if len(pieces[0]) > LABEL_CAP and size > 1:
            pieces = [row.mechanism, *(f"  {clean(phrase)}" for phrase in row.phrases)]
            pieces = [*pieces[: size - 1], ", ".join(pieces[size - 1 :]).replace(",   ", ", ")]
        texts += [*pieces, *[""] * size][:size]
    return texts


def _draw_short(
    split: dict[str, list[Row]],
    labels: dict[str, list[str]],
    warmths: list[str | None],
    all_intervals: bool,
    colour: bool,
) -> tuple[list[str], int]:
    everything = [row for members in split.values() for row in members]
    label_width = max(len(label) for column in labels.values() for label in column)
    stage_width = max(len(_stage(row)) for row in everything)
    heads = {family: _heading(family, members) for family, members in split.items()}
    left_width = max(label_width + 2 + stage_width, *(len(head) for head in heads.values()))
    sections: dict[str, list[str]] = {}
    columns: list[Block] = []
    for place, warmth in enumerate(warmths):
        columns += _figure_columns(split, warmth, first=place == 0, interval=place == 0 or all_intervals)
    line = 0
    for family, members in split.items():
        left = [heads[family]] + [
            f"{label:<{label_width}}  {_stage(row)}" for label, row in zip(labels[family], members, strict=True)
        ]
        sections[family] = []
        for text in left:
            padded = f"{text:<{left_width}}"
            is_heading = text is left[0]
            cells = [padded if not is_heading else paint(padded, "bold", colour)]
            for column in columns:
                style = "bold" if is_heading else column.style
                cells.append(paint(column.texts[line], style, colour) if style else column.texts[line])
            sections[family].append(GAP.join(cells).rstrip())
            line += 1
    natural = left_width + sum(len(GAP) + column.width for column in columns)
    return [text for drawn in sections.values() for text in drawn], natural


def _heading(family: str, rows: Sequence[Row]) -> str:
    pinned = all(row.any_estimate.condition.get("placement") == "pinned" for row in rows)
    launches = any(row.any_estimate.stage for row in rows)
    return _unit_heading(f"{family_name(family)}{', pinned' if pinned and launches else ''}", rows)


def _unit_heading(words: str, rows: Sequence[Row]) -> str:
    """Add the unit of the stages, if there are any: what is none says its own."""
    launches = any(row.any_estimate.stage for row in rows)
    return f"{words}; {launches_unit(rows)} until" if launches else words


def _stage(row: Row) -> str:
    return quantity_label(row) if row.rankable else f"{quantity_label(row)}*"


def _figure_columns(split: dict[str, list[Row]], warmth: str | None, *, first: bool, interval: bool) -> list[Block]:
    """The median's column and, if wanted, its interval's, over all families, each with its own unit."""
    figures: list[Figure | None] = []
    heads: list[str] = []
    for members in split.values():
        unit = launches_unit(members)
        shown = [row.estimates.get(warmth) or (row.estimates.get(None) if first else None) for row in members]
        heads += [_head(members, warmth, first), *[""] * len(members)]
        figures.append(None)
        figures += [
            figure(one, row_unit(row, unit)) if one else Figure("") for row, one in zip(members, shown, strict=True)
        ]
    medians = align([one.median if one else "" for one in figures], heads)
    blocks = [Block(medians)]
    if interval:
        lows = max(len(one.low) for one in figures if one)
        texts = [
            (INTERVAL_HEADING if head else "") if one is None else one.interval(lows)
            for one, head in zip(figures, heads, strict=True)
        ]
        wide = max(map(len, texts))
        blocks.append(Block([f"{text:<{wide}}" for text in texts], "dim"))
    return blocks


def _head(members: Sequence[Row], warmth: str | None, first: bool) -> str:
    """Head a family's column: its temperature, or plainly the median where it has none."""
    there = {one for row in members for one in row.estimates}
    if warmth is not None and warmth in there:
        return warmth
    return "median" if first and None in there else (warmth or "") if there != {None} else ""


def align(numbers: Sequence[str], headings: Sequence[str]) -> list[str]:
    """Align numbers by their decimal points and set the headings flush right above them."""
    tails = [len(text.partition(".")[1] + text.partition(".")[2]) for text in numbers]
    longest = max(tails, default=0)
    padded = [text + " " * (longest - tail) if text else "" for text, tail in zip(numbers, tails, strict=True)]
    width = max((len(text) for text in (*padded, *headings)), default=0)
    return [f"{head or text:>{width}}" for text, head in zip(padded, headings, strict=True)]


def wide_table(rows: Sequence[Row], width: int, colour: bool) -> list[str]:
    """Draw every estimate on a line of its own; columns go (and are named) where ``width`` is too small."""
    lines: list[str] = []
    dropped: list[str] = []
    for family, members in families(rows).items():
        pairs = [(row, one) for row in members for one in row.estimates.values()]
        heading = _unit_heading(family_name(family), members).removesuffix(" until")
        columns = _wide_columns(pairs, heading, launches_unit(members))
        for name in DROPPABLE:
            if _table_width(columns) > width:
                del columns[name]
                dropped = [*dropped, name] if name not in dropped else dropped
        if lines:
            lines.append("")
        for place, cells in enumerate(zip(*columns.values(), strict=True)):
            text = elide(GAP.join(cells).rstrip(), max(width, 60))
            lines.append(paint(text, "bold", colour) if place == 0 else text)
    if dropped:
        lines.append(f"(left out at {width} columns: {', '.join(reversed(dropped))})")
    return lines


def _table_width(columns: dict[str, list[str]]) -> int:
    return sum(len(column[0]) + len(GAP) for column in columns.values()) - len(GAP)


def _wide_columns(pairs: list[tuple[Row, Estimate]], title: str, unit: str) -> dict[str, list[str]]:
    def numbers(head: str, texts: list[str]) -> list[str]:
        return align(["", *texts], [head, *[""] * len(texts)])

    def words(head: str, texts: list[str]) -> list[str]:
        wide = max(map(len, (head, *texts)))
        return [f"{text:<{wide}}" for text in (head, *texts)]

    units = [row_unit(row, unit) for row, _ in pairs]
    figures = [figure(one, own) for (_, one), own in zip(pairs, units, strict=True)]
    lows = max((len(one.low) for one in figures), default=0)
    columns = {
        "label": words(title, _labels([row for row, _ in pairs])),
        "until": words("until", [_stage(row) for row, _ in pairs]),
        "temperature": words("", [one.temperature or "" for _, one in pairs]),
        "median": numbers("median", [one.median for one in figures]),
        "interval": words(INTERVAL_HEADING, [one.interval(lows) for one in figures]),
        "p99": numbers("p99", [plain_figure(one.p99_ns, own) for (_, one), own in zip(pairs, units, strict=True)]),
        "min": numbers("min", [plain_figure(one.min_ns, own) for (_, one), own in zip(pairs, units, strict=True)]),
        "n": numbers("n", [f"{one.n_samples:,}" for _, one in pairs]),
        "processes": numbers("processes", [str(one.n_processes) for _, one in pairs]),
        "MHz": numbers("MHz", [f"{one.effective_mhz:.0f}" if one.effective_mhz else "-" for _, one in pairs]),
    }
    if not any(one.temperature for _, one in pairs):
        del columns["temperature"]
    return columns
