"""The figure of languages: what each takes for the same thing, beside C; and the table of languages by things."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

from clonometer.families import families, family
from clonometer.grouping import group_by
from clonometer.results.series_types import REFERENCE, LanguageRow
from clonometer.results.types import Finding, Results
from clonometer.units import format_duration, format_duration_interval
from clonometer.views.axes import number_axis
from clonometer.views.colours import HUES
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.specs import SHAPES, TIP, choice, dots, frame, names_axis, places, rule
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.types import Datum, Spec
from clonometer.words import axis_title, axis_words, language_name

_COLD = "cold"
_KINDS = {"warm": "later launches", _COLD: "the first launch"}
_LINE = 24
_MOST_LINES = 7
#: How the ids of findings begin that compare versions of a language.
_VERSIONS = "versions."
#: Things and conditions beside each other in the table that sums up; all are in the tables below the figure.
_MOST_COLUMNS = 12
_WIDTH = 240


def _rows(results: Results) -> Sequence[LanguageRow]:
    rows: Sequence[LanguageRow] = results.series.get("languages", ())
    return rows


def _launched(rows: Sequence[LanguageRow]) -> list[LanguageRow]:
    return [row for row in rows if not row.is_instrument]


def _with_condition(text: str, row: LanguageRow) -> str:
    return ", ".join([text, *(axis_words(*item) for item in row.condition.items())])


def _points(rows: Sequence[LanguageRow]) -> list[dict[str, Any]]:
    """The points of one thing under one condition: one a language and kind of launch."""
    points = []
    for row in rows:
        kind = _KINDS[_COLD if row.temperature == _COLD else "warm"]
        for language, (median, low, high) in row.times_ns.items():
            name = language_name(language)
            tip = f"{name}, {kind}: {format_duration_interval(median, low, high)}"
            hue = HUES["blue" if language == REFERENCE else "orange"]
            ends = {"median_ns": median, "low_ns": low, "high_ns": high}
            points.append({"language": name, "kind": kind, "colour": hue, **ends, "tip": tip})
    return points


def languages_panel(points: Sequence[Datum], title: str) -> Spec:
    """Draw a line a language: its later launches and its first one."""
    names = list(dict.fromkeys(point["language"] for point in points))
    axis = number_axis([point[end] for point in points for end in ("low_ns", "high_ns")], "time", log_from=5.0)
    y = names_axis("language", names, grid=True)
    colour = {"field": "colour", "type": "nominal", "scale": None}
    kinds = [kind for kind in _KINDS.values() if any(point["kind"] == kind for point in points)]
    shape = choice("kind", kinds, places(SHAPES, len(kinds)))
    middle = {"y": y, "x": axis.encode("median_ns"), "color": colour, "shape": shape, "tooltip": TIP}
    ends = {"y": y, "x": axis.encode("low_ns"), "x2": {"field": "high_ns"}, "color": colour}
    return {**frame(points, _WIDTH, _LINE * max(len(names), 1), f"{title}."), "layer": [rule(ends), dots(middle, 60)]}


def _panels(results: Results) -> list[Row]:
    things: dict[str, list[LanguageRow]] = {}
    for row in _launched(_rows(results)):
        things.setdefault(_with_condition(row.thing, row), []).append(row)
    panels = []
    for number, (title, rows) in enumerate(things.items()):
        points = _points(rows)
        if points:
            heading = f"{title[:1].upper()}{title[1:]}"
            words = alt(heading, points)
            panels.append(
                Panel(
                    f"languages-{number}",
                    title.capitalize(),
                    words,
                    partial(languages_panel, points, title),
                    tall=False,
                )
            )
    return [Row(panels)] if panels else []


def languages_tables(results: Results) -> list[Table]:
    """What each language takes for each thing, in later launches and in first ones, and how many tasks that creates."""
    rows = _rows(results)
    return [*_tables(rows), *_created_tables(_launched(rows))]


def _tables(every: Sequence[LanguageRow]) -> list[Table]:
    """A table of later launches, one for each axis that is off its default, and one of first launches."""
    tables = []
    for kind, title in _KINDS.items():
        rows = [row for row in every if row.times_ns and (row.temperature == _COLD) == (kind == _COLD)]
        for axes, alike in group_by((tuple(row.condition), row) for row in _launched(rows)).items():
            varied = f" by {' and '.join(axis_title(axis) for axis in axes)}" if axes else ""
            readings = "" if axes else _readings(rows)
            tables.append(_table(alike, f"{title.capitalize()}{varied}", readings))
    return tables


def _table(rows: Sequence[LanguageRow], title: str, readings: str) -> Table:
    languages = dict.fromkeys(language for row in rows for language in row.times_ns)
    ordered = [
        *([REFERENCE] if REFERENCE in languages else []),
        *sorted(language for language in languages if language != REFERENCE),
    ]
    columns = [Column("", [language_name(language) for language in ordered])]
    for number, row in enumerate(rows):
        times = [row.times_ns.get(language) for language in ordered]
        texts = [MISSING if time is None else format_duration(*time) for time in times]
        # On a narrow terminal what comes first is kept.
        columns.append(Column(_with_condition(row.head, row), texts, "right", drop=len(rows) - number))
    notes = [
        ("Uses a thread again that ended, and creates none", _listed(rows, lambda row: row.reused)),
        ("Without a steady level in a quarter of the processes or more", _listed(rows, lambda row: row.unsteady)),
        ("The readings of the clock, which each time contains", readings),
    ]
    return Table(columns, title, " ".join(f"{note}: {languages}." for note, languages in notes if languages))


def _listed(rows: Sequence[LanguageRow], chosen: Callable[[LanguageRow], Sequence[str]]) -> str:
    """List languages, each with the things for which it is chosen."""
    things: dict[str, list[str]] = {}
    for row in rows:
        for language in chosen(row):
            things.setdefault(language_name(language), []).append(_with_condition(row.head, row))
    return "; ".join(f"{language} ({', '.join(heads)})" for language, heads in things.items())


def _created_tables(every: Sequence[LanguageRow]) -> list[Table]:
    """How many tasks of the kernel a launch creates in each language, as counted."""
    rows = [row for row in every if row.created and not row.condition]
    languages = sorted({language for row in rows for language in row.created})
    columns = [Column("", [language_name(language) for language in languages])]
    for number, row in enumerate(rows):
        counts = [row.created.get(language) for language in languages]
        head = _with_condition(row.head, row) + (", first" if row.temperature == _COLD else "")
        texts = [MISSING if count is None else str(count) for count in counts]
        columns.append(Column(head, texts, "right", drop=len(rows) - number))
    note = f"Counted over blocks of launches; {MISSING}: not measured, or hidden by other programs that start tasks."
    return [Table(columns, "Tasks of the kernel created per launch", note)] if rows else []


def _readings(rows: Sequence[LanguageRow]) -> str:
    """List what each driver itself adds to the times of its language."""
    plain = next((row for row in rows if row.is_instrument and not row.condition), None)
    times = sorted(plain.times_ns.items(), key=lambda item: item[1]) if plain else []
    return ", ".join(f"{language_name(language)} {format_duration(*time)}" for language, time in times)


def _summed_up(results: Results, workloads: Set[str]) -> list[Table]:
    """The table of later launches, where a run is about languages: most of its workloads are theirs."""
    measured = {row.workload for row in results.cells if family(row.family).language_tasks}
    bases = {task.base for each in families() for task in each.language_tasks.values()}
    of_languages = (workloads & measured) - bases
    if len(workloads - bases - of_languages) >= len(of_languages):
        return []
    rows = _rows(results)
    # A screen has no room for more than a few lines.
    many = len({language for row in rows for language in row.times_ns}) > _MOST_LINES
    shown = [_first_versions(row) for row in rows] if many else rows
    later = [row for row in shown if row.times_ns and row.temperature != _COLD]
    # A narrow terminal has no room for all: what most languages can do comes first, conditions come last.
    things = sorted(_launched(later), key=lambda row: (len(row.condition), -len(row.times_ns)))
    if not things:
        return []
    table = _table(things[:_MOST_COLUMNS], _KINDS["warm"].capitalize(), _readings(later))
    beside = _versions(results.findings) if many else ""
    return [replace(table, note=" ".join(filter(None, [beside, table.note])), brief=beside, sparse=True)]


def _versions(findings: Sequence[Finding]) -> str:
    """Say how further versions differ from the first ones, in a sentence those that are not known to."""
    beside = [finding for finding in findings if finding.id.startswith(_VERSIONS)]
    alike = ", ".join(finding.numbers["beside"] for finding in beside if not finding.states_difference)
    texts = [finding.headline for finding in beside if finding.states_difference]
    return " ".join([*texts, *([f"{alike}: a difference is open."] if alike else [])])


def _first_versions(row: LanguageRow) -> LanguageRow:
    """The first version of each language, which has its plain name, and others where that cannot do it."""
    kept = {
        language: times
        for language, times in row.times_ns.items()
        if "_" not in language or language.partition("_")[0] not in row.times_ns
    }
    unsteady, reused = ([name for name in names if name in kept] for names in (row.unsteady, row.reused))
    return replace(row, times_ns=kept, unsteady=unsteady, reused=reused)


FIGURES = (
    Figure(
        130,
        "languages",
        "what each language takes for the same thing",
        "workload of a language (the plan runtimes has)",
        "What does each language pay, beside C?",
        answered_by("languages"),
        _panels,
        Section(
            "Languages",
            "Languages",
            "What each language takes for the same thing by its own API, beside C. Medians with 95% intervals; the "
            "axis is logarithmic where times differ much.",
        ),
        tables=languages_tables,
        sums_up=_summed_up,
    ),
)
