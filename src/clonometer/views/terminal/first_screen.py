"""The first screen of a run: the answer, a table, why, what to do, what disturbs trust, the next command."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from clonometer.families import axis, is_launch
from clonometer.results.first.doubts import MACHINE
from clonometer.results.types import CONTEST, RUN_FILE, Finding, Results
from clonometer.views.figures import figures
from clonometer.views.first_table import ScreenLine, first_tables, glosses, hidden_rows, lines_of, pick_lines
from clonometer.views.labels import shown_axes
from clonometer.views.rows import EstimateRow, failures, host_phrases, make_rows
from clonometer.views.table import Table
from clonometer.views.terminal.table import draw_stack, draw_table
from clonometer.views.terminal.text import clean, painted, wrap
from clonometer.views.warning_groups import warning_groups
from clonometer.words import counted

#: The columns for which ``lines`` is meant: what is narrower takes more lines.
FULL_WIDTH = 80
_INDENT = 6
#: Doubts that the table's own column shows.
_IN_TABLE = ("doubt.interval.wide", "doubt.level.drift")
#: Conditions of a plan that are shown before reasons and advice have their lines.
_LINES_OF_PLAN = 7
#: Of the machine: what anybody knows it by. The rest is with `--wide`.
_PHRASES = 5
_AD_HOC = "adhoc"
#: Of cells without a result so many are named.
_CELLS_NAMED = 2


def first_screen(results: Results, width: int, limit: int, *, colour: bool) -> list[str]:
    """Draw the first screen in at most ``limit`` lines of ``width``; in narrow terminals in as many more."""
    limit = max(limit, limit * FULL_WIDTH // width)
    rows = make_rows(results.cells)
    parts = {
        "head": [*_machine(results, width, colour), *head(results, width, colour, _PHRASES)],
        "answer": answer_lines(results, width),
        "table": [],
        "trouble": painted([*missing_lines(results, width), *trouble_lines(results, width, most=3)], "warn", colour),
        "points": [],
        "tail": [],
    }
    doubts = [*_doubts(results, width, colour), *_open(results, width)]
    left = limit - sum(map(len, parts.values())) - len(doubts) - len(_tail(results, 1, 1, width))
    table = _Table(results, rows, width, colour)
    points = _points(results, width)
    least = sum(len(lines) for _, lines in points[:2])
    # What sums up a plan is what it was measured for: reasons have the rest.
    least = min(least, left - len(table.summary_for(left)))
    most = len(table.lines) if table.named else _LINES_OF_PLAN
    # Of a plan of launches the lines are always the same; of others room that is left shows more.
    is_fixed = not table.named and any(finding.id == CONTEST for finding in results.first.answer)
    parts["table"] = table.draw(left if is_fixed else left - least, most)
    chosen = _choose(points, left - len(parts["table"]))
    left -= sum(len(lines) for _, lines in chosen)
    more = most if is_fixed else len(table.lines)
    parts["table"] = table.draw(left, more) or ["Nothing was measured."]
    parts["points"] = [*_in_order(points, chosen), *doubts]
    shown_ids = {finding.id.partition(".")[2] for finding in (*results.first.answer, *results.first.reasons)}
    unsaid = sum(finding.id not in shown_ids for finding in results.findings)
    parts["tail"] = _tail(results, table.hidden, unsaid, width)
    # The finding about a program's start says what it is.
    started = any(finding.id == "program_start" for finding in results.findings)
    notes = [] if started else program_line(rows, width)
    if left - len(parts["table"]) >= len(notes):
        parts["table"] += notes
    return spaced([part for part in parts.values() if part], limit)


def head(results: Results, width: int, colour: bool, most: int | None = None) -> list[str]:
    """Say on what machine the run was made, in one line of what has room, and why it is not complete.

    ``most`` is how many things are said of it, the best known first; None: all.
    """
    line, *phrases = host_phrases(results)[:most]
    if results.machine is not None and results.machine.is_quiet:
        line = f"{results.machine.word}: {line}"
    for phrase in phrases:
        if len(f"{line}, {phrase}") > width:
            break
        line = f"{line}, {phrase}"
    lines = painted(wrap(line, width), "bold", colour)
    if results.status != "complete":
        verb = "failed" if results.status == "failed" else f"is {results.status}"
        reason = f": {results.status_reason}" if results.status_reason else "."
        lines += painted(wrap(f"This run {verb}{reason}", width), "warn", colour)
    return lines


def answer_lines(results: Results, width: int) -> list[str]:
    """The answer, each sentence in lines of its own, and at its end how sure it is."""
    lines: list[str] = []
    for finding in results.first.answer:
        tag = finding.tag
        *before, last = wrap(finding.sentence, width)
        fits = len(last) + len(tag) < width
        lines += [*before, f"{last}{tag:>{width - len(last)}}" if tag and fits else last]
        lines += [f"{tag:>{width}}"] if tag and not fits else []
    return lines


def live_screen(results: Results, width: int, limit: int, *, colour: bool) -> list[str]:
    """Draw what is known while a run goes on: the answer so far, and the table with a mark at each line."""
    rows = make_rows(results.cells)
    lines = [*_machine(results, width, colour), *answer_lines(results, width)]
    table = _Table(results, rows, width, colour, marks=True)
    drawn = table.draw(max(1, limit - len(lines)), len(table.lines) if table.named else _LINES_OF_PLAN)
    return [*lines, *drawn][:limit]


def spaced(parts: Sequence[Sequence[str]], limit: int) -> list[str]:
    """Put blank lines between the parts while there is room for them."""
    spare = limit - sum(map(len, parts))
    drawn: list[str] = []
    for index, part in enumerate(parts):
        if index and spare >= len(parts) - 1:
            drawn.append("")
        drawn += part
    return drawn


class _Table:
    """The table in as many lines as it may have; ``hidden`` is how many rows it had no room for."""

    def __init__(
        self, results: Results, rows: Sequence[EstimateRow], width: int, colour: bool, *, marks: bool = False
    ) -> None:
        measured = [row for row in rows if not row.is_instrument] or list(rows)
        shown = [row for row in measured if not row.any_estimate.detail] or measured
        self.lines = lines_of(shown)
        self.hidden = 0
        self._rows = rows
        #: The least of all launches, beside the median: no neighbour makes it shorter.
        self._best = results.is_disturbed
        self._width, self._colour = width, colour
        #: Whether the user named what to measure.
        self.named = results.plan_name == _AD_HOC
        self._marks = marks
        self._spoken = [cell for finding in results.first.answer for cell in finding.numbers["cells"]]
        workloads = {row.workload for row in shown}
        tables = next((made for figure in figures() if (made := figure.sums_up(results, workloads))), ())
        # Its note goes before the table does.
        forms = (list(tables), *([replace(table, note=kept(table)) for table in tables] for kept in (_brief, _nothing)))
        self._summaries = [[line for table in form for line in draw_table(table, width, colour)] for form in forms]

    def summary_for(self, room: int) -> list[str]:
        """The lines of the table that sums up the plan; none where it has none, or no form in that ``room``."""
        return next((lines for lines in self._summaries if len(lines) <= room), [])

    def draw(self, room: int, most: int) -> list[str]:
        """Draw as many of the lines as ``room`` holds with headings and glosses, at most ``most`` of them."""
        if summary := self.summary_for(room):
            self.hidden = len(self._rows)
            return summary
        drawn: list[str] = []
        for count in range(min(most, len(self.lines), max(room, 1)), 0, -1):
            picked = pick_lines(self.lines, self._spoken, count, named=self.named)
            drawn = self._drawn(picked)
            self.hidden = hidden_rows([row for row in self._rows if not row.is_instrument], picked)
            if len(drawn) <= room:
                break
        return drawn

    def _drawn(self, lines: Sequence[ScreenLine]) -> list[str]:
        drawn = draw_stack(
            first_tables(lines, best=self._best, bars=True, marks=self._marks), self._width, self._colour
        )
        explained = "; ".join(glosses(lines, drawn.dropped))
        body = [line for table in drawn.tables for entry in table for line in entry.split("\n")]
        return [*body, *(wrap(f"({explained})", self._width) if explained else [])]


def _brief(table: Table) -> str:
    return table.brief


def _nothing(_: Table) -> str:
    return ""


def _points(results: Results, width: int) -> list[tuple[str, list[str]]]:
    """Reasons and advice in turn, the most important first: the heading of each, and its lines."""
    first = results.first
    pairs = zip_longest(first.reasons, first.advice)
    listed = [entry for reason, piece in pairs for entry in (("Why", reason), ("Do", piece))]
    return [(name, _finding_lines(finding, width)) for name, finding in listed if finding is not None]


def _finding_lines(finding: Finding, width: int) -> list[str]:
    """Say it in full where that is a line, else in short."""
    whole = len(finding.sentence) <= width - _INDENT
    text = finding.sentence if whole else finding.headline or finding.sentence
    return wrap(text, width, bullet=" " * _INDENT)


def _choose(points: Sequence[tuple[str, list[str]]], room: int) -> list[tuple[str, list[str]]]:
    """Take what fits, the first ones first."""
    chosen = []
    for point in points:
        if len(point[1]) <= room:
            chosen.append(point)
            room -= len(point[1])
    return chosen


def _in_order(points: Sequence[tuple[str, list[str]]], chosen: Sequence[tuple[str, list[str]]]) -> list[str]:
    """All reasons, then all advice, each group under its name."""
    lines: list[str] = []
    for name in dict.fromkeys(name for name, _ in points):
        group = [line for heading, texts in chosen if heading == name for line in texts]
        lines += [f"{name:<{_INDENT}}{group[0][_INDENT:]}", *group[1:]] if group else []
    return lines


def _doubts(results: Results, width: int, colour: bool) -> list[str]:
    """One line of what disturbs trust: what has room of it, the worst at least."""
    text = ""
    for doubt in results.first.doubts:
        if doubt.id in (MACHINE, *_IN_TABLE):
            continue
        words = doubt.headline if " rows" in text and doubt.headline else doubt.sentence
        longer = f"{text}; {words}" if text else words
        if text and _INDENT + len(longer) + 1 > width:
            break
        text = longer
    lines = wrap(f"{text}.", width, bullet=f"{'Note':<{_INDENT}}") if text else []
    return painted(lines, "warn", colour)


def _open(results: Results, width: int) -> list[str]:
    """What is open, and below each question the command that closes it."""
    lines: list[str] = []
    for question in results.first.open:
        lines += wrap(f"{question.about}:", width, bullet=" " * _INDENT)
        lines += [" " * _INDENT + line for line in _command(question.words, "", width)]
    return [f"{'Open':<{_INDENT}}{lines[0][_INDENT:]}", *lines[1:]] if lines else []


def _machine(results: Results, width: int, colour: bool) -> list[str]:
    """Say above all else that others were at work, and what that did to the figures."""
    text = next((doubt.sentence for doubt in results.first.doubts if doubt.id == MACHINE), "")
    return painted(wrap(f"{text}.", width), "warn", colour) if text else []


def _tail(results: Results, hidden: int, findings: int, width: int) -> list[str]:
    """The next command, and the one that shows what had no room."""
    lines = []
    following = results.first.next
    if following is not None:
        words = [results.run_name if word == RUN_FILE else word for word in following.words]
        lines += _command(words, following.about, width)
    warnings = len(warning_groups(results))
    wide = sum(int(doubt.numbers["rows"]) for doubt in results.first.doubts if doubt.id in _IN_TABLE[:1])
    counts = ((hidden, "more row"), (wide, "imprecise row"), (findings, "finding"), (warnings, "warning"))
    more = [counted(count, kind) for count, kind in counts if count]
    if more:
        lines += _command(["show", results.run_name, "--wide"], ", ".join(more), width)
    return [f"{'Next' if index == 0 else '':<{_INDENT}}{line}" for index, line in enumerate(lines)]


def _command(words: Sequence[str], about: str, width: int) -> list[str]:
    """A command, and what it is for where that has room in its line."""
    command = clean(shlex.join(["clonometer", *words]))
    whole = f"{command}   {about}".rstrip()
    if len(whole) <= width - _INDENT:
        return [whole]
    # A command is there to be copied: a path that is longer than the terminal is left to it.
    return textwrap.wrap(command, width - _INDENT, break_long_words=False, break_on_hyphens=False)


def missing_lines(results: Results, width: int) -> list[str]:
    """Say which languages were not measured, each in a line, and which package brings it."""
    return [line for each in results.missing_languages for line in wrap(f"{each.reason}.", width, bullet="! ")]


def trouble_lines(results: Results, width: int, most: int | None) -> list[str]:
    """Say which cells gave no result and why, in at most ``most`` lines."""
    lines: list[str] = []
    grouped = failures(results)
    for reason, cells in grouped:
        shown = [status.cell for status in cells][: None if most is None else _CELLS_NAMED]
        rest = f" and {len(cells) - len(shown)} more" if len(shown) < len(cells) else ""
        count = f"{len(cells)} cells " if len(cells) > 1 else ""
        lines += wrap(f"{count}{reason} ({', '.join(shown)}{rest})", width, bullet="! ")
    if most is None or len(lines) <= most:
        return lines
    total = sum(len(cells) for _, cells in grouped)
    return [*lines[: most - 1], f"! {total} cells without a result in total; the rest: --wide"]


def program_line(rows: Sequence[EstimateRow], width: int) -> list[str]:
    """Say what the new program is where the rows do not: its launches differ by it more than by how it is started."""
    unnamed = {
        str(row.any_estimate.condition["program"])
        for row in rows
        if is_launch(row.family)
        and "program" in row.any_estimate.condition
        and "program" not in shown_axes(row.any_estimate.cell)
    }
    explanations = axis("program").explanations
    programs = [explanations.get(program, program) for program in sorted(unnamed)]
    return wrap(f"The new program is {' or '.join(programs)}, unless another is named.", width) if programs else []
