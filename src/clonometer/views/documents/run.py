"""A run: the answer, findings, distributions and figures, every cell, warnings, how it was measured."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from clonometer.families import family as family_of
from clonometer.results.types import RUN_FILE, Finding, Results
from clonometer.tracing.work.types import AnyExplanation
from clonometer.views.distributions import distributions
from clonometer.views.document import (
    BulletList,
    Document,
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Link,
    NamedText,
    NamedTexts,
    Note,
    Paragraph,
    SearchableTable,
    Statement,
    Statements,
    Subheading,
    TableBlock,
)
from clonometer.views.documents.run_explained import explained_groups
from clonometer.views.documents.run_method import method_blocks, repeat_blocks
from clonometer.views.estimate_tables import CELL_UNIT, answer_table, cell_table, is_pinned
from clonometer.views.figures import figures
from clonometer.views.labels import cpu_name, family_name
from clonometer.views.plots import short_rows
from clonometer.views.rows import (
    EstimateRow,
    explained_stages,
    failures,
    families,
    floor_costs,
    host_phrases,
    launches_unit,
    make_rows,
    quantity_text,
)
from clonometer.views.warning_groups import WarningGroup, warning_groups
from clonometer.words import counted

#: Beyond this a page would grow past 2 MB; the rest is in the run file.
MOST_CELL_ROWS = 1000
#: Beyond these findings are folded.
MOST_FINDINGS = 5
_FILTERS = (("Stage", "until"), ("Temperature", "temperature"), ("Placement", "placement"))


def run_document(results: Results, explanations: Sequence[AnyExplanation] = ()) -> Document:
    """Make a document of a run, and of explanations of launches such as those it has measured.

    A page of it is below 2 MB without explanations, and below 3 MB for runs of hundreds of conditions (the plan
    `runtimes-full`: 2.7 MB); each explanation adds its timelines.
    """
    first = results.first
    leading = first.answer or results.findings[:1]
    lead = " ".join(f"{finding.sentence} {finding.tag}".rstrip() for finding in leading)
    rows = short_rows(results)
    readings = {figure.stands_in: figure.reading for figure in figures() if figure.stands_in}
    groups: list[Sequence[DocumentBlock]] = [
        [Note(_incomplete(results))],
        [Heading("The answer", link="Answer", anchor="answer"), Paragraph(lead, "lead"), *_points(results, rows)],
        _summary(results, rows),
        *_families(results, rows, readings["answer"]),
        _notes(results, rows),
        _findings(results, leading),
        distributions(results, readings["distributions"]),
        *_figures(results),
        *explained_groups(explanations, results.cells),
        _cells(results),
        _warnings(results),
        method_blocks(results, rows),
        repeat_blocks(results),
    ]
    machine = cpu_name(str(results.host.get("cpu.model") or "this machine"))
    return Document(
        "report", f"What a task costs on {machine}", lead, groups, least_width=60, about=host_phrases(results)
    )


def _incomplete(results: Results) -> str:
    if results.status == "complete":
        return ""
    verb = "failed" if results.status == "failed" else f"is {results.status}"
    return f"This run {verb}: {results.status_reason}." if results.status_reason else f"This run {verb}."


def _points(results: Results, rows: Sequence[EstimateRow]) -> list[DocumentBlock]:
    """Reasons, advice, doubts and the next command."""
    first = results.first
    entries = []
    for name, findings in (("Why", first.reasons), ("What to do", first.advice)):
        if findings:
            text, *further = [finding.sentence for finding in findings]
            entries.append(NamedText(name, text, further=further))
    if first.doubts:
        link = Link("Warnings", "warnings") if warning_groups(results) or failures(results) else None
        entries.append(NamedText("Note", f"{'; '.join(finding.sentence for finding in first.doubts)}.", link=link))
    # The page is what that command makes.
    if first.next is not None and first.next.words[0] != "report":
        words = [results.run_name if word == RUN_FILE else word for word in first.next.words]
        entries.append(NamedText("Next", first.next.about, command=shlex.join(["clonometer", *words])))
    blocks: list[DocumentBlock] = [NamedTexts(entries, 12)] if entries else []
    if results.missing_languages:
        blocks.append(Paragraph("Not measured:", "bold"))
        blocks.append(BulletList([f"{language.reason}." for language in results.missing_languages], "warn"))
    if not rows:
        where = ": the reasons are among the warnings" if failures(results) else ""
        blocks.append(Paragraph(f"Nothing was measured{where}."))
    return blocks


def _summary(results: Results, rows: Sequence[EstimateRow]) -> list[DocumentBlock]:
    """The table that sums up all that was measured, where there is one."""
    workloads = {row.workload for row in rows if not row.is_instrument}
    summaries = [(figure, tables) for figure in figures() if (tables := figure.sums_up(results, workloads))]
    # A page has room for all versions of a language.
    return [TableBlock((figure.tables(results) or tables)[0]) for figure, tables in summaries]


def _families(results: Results, rows: Sequence[EstimateRow], reading: str) -> list[list[DocumentBlock]]:
    """A table for each family, and a chart beside it where its launches can be drawn."""
    overview = next(figure for figure in figures() if figure.stands_in == "answer")
    panels = {panel.id: panel for row in overview.rows(results) for panel in row.panels}
    groups: list[list[DocumentBlock]] = []
    for name, members in families(rows).items():
        has_stages = any(row.any_estimate.stage for row in members)
        about = (
            f"{family_of(name).explanation} Medians{f' in {launches_unit(members)}' if has_stages else ''}"
            f"{', pinned to one CPU' if is_pinned(members) else ''}."
        )
        panel = panels.get(f"{overview.kind}-{name}")
        drawn = [replace(panel, title="", caption=reading)] if panel is not None else []
        groups.append(
            [
                Subheading(family_name(name), anchor=name),
                Paragraph(about, "dim"),
                FigureBlock("", "", drawn),
                TableBlock(answer_table(members)),
            ]
        )
    return groups


def _notes(results: Results, rows: Sequence[EstimateRow]) -> list[DocumentBlock]:
    """What asterisks and stages mean, and what the instrument itself costs."""
    unranked = {each.not_rankable_reason for row in rows for each in row.estimates.values() if not each.rankable}
    reasons = sorted(filter(None, unranked))
    blocks: list[DocumentBlock] = [Paragraph(f"* Not ranked: {'; '.join(reasons)}.", "dim")] if reasons else []
    stages = [NamedText(name, text) for name, text in explained_stages(results)]
    if stages:
        blocks.append(NamedTexts(stages, 2 + max(len(stage.name) for stage in stages)))
        blocks.append(Paragraph("Every stage counts from one timestamp just before the call.", "dim"))
    floor = [f"{row.label} {quantity_text(estimate)}" for row, estimate in floor_costs(make_rows(results.cells))]
    return [*blocks, *([Paragraph(f"The instrument itself: {', '.join(floor)}.", "dim")] if floor else [])]


def _findings(results: Results, leading: Sequence[Finding]) -> list[DocumentBlock]:
    """What a run shows beside its answer, and what is open."""
    if not results.findings:
        return []
    first = results.first
    # What the answer says stands above; it is not said twice in a row.
    in_answer = {finding.id.partition(".")[2] for finding in (*first.answer, *first.reasons)}
    differing = [finding for finding in results.findings if finding.states_difference]
    shown = [each for each in differing if each.id not in in_answer and each not in leading][:MOST_FINDINGS]
    more = [finding for finding in differing if finding not in shown]
    unsure = [finding for finding in results.findings if not finding.states_difference]
    folds = (
        (more, f"{counted(len(more), 'more finding')}"),
        (unsure, f"{counted(len(unsure), 'comparison')} that are not sure"),
    )
    return [
        Heading("Findings", anchor="findings"),
        Statements([_statement(finding, results) for finding in shown]),
        *(
            Fold(summary, [Statements([_statement(finding, results) for finding in inside])], wished=True)
            for inside, summary in folds
            if inside
        ),
    ]


def _unnamed(group: WarningGroup) -> list[str]:
    """The cells that a warning touches and that none of its sentences names: a sentence for each cell names it."""
    named = "\n".join(group.sentences)
    return [cell for cell in group.cells if cell not in named]


def _statement(finding: Finding, results: Results) -> Statement:
    shows = next(
        (
            figure.kind
            for figure in figures()
            if figure.section and finding in figure.answering(results) and figure.rows(results)
        ),
        "",
    )
    link = Link("Figure", shows) if shows else None
    return Statement(finding.sentence, cells=finding.numbers.get("cells", ()), link=link)


def _figures(results: Results) -> list[list[DocumentBlock]]:
    """A section for each figure for which the run has data, with the tables that belong to it."""
    groups: list[list[DocumentBlock]] = []
    for figure in figures():
        section, panels = figure.section, [panel for row in figure.rows(results) for panel in row.panels]
        if section is None or not panels:
            continue
        # Where there is nothing but a chart, its heading stands where charts are drawn.
        drawn = FigureBlock(section.heading, section.intro, panels, link=section.link, anchor=figure.kind)
        if tables := figure.tables(results):
            heading = Heading(section.heading, link=section.link, anchor=figure.kind)
            groups.append([heading, replace(drawn, heading=""), *map(TableBlock, tables)])
        else:
            groups.append([drawn])
    return groups


def _cells(results: Results) -> list[DocumentBlock]:
    if not results.cells:
        return []
    left_out = len(results.cells) - MOST_CELL_ROWS
    # Where there are too many, what only explains another row goes first.
    kept = [each for each in results.cells if left_out <= 0 or not each.detail][:MOST_CELL_ROWS]
    left_out = len(results.cells) - len(kept)
    table = replace(
        cell_table(kept),
        note=f"{left_out} more rows are in the run file: clonometer show --json." if left_out > 0 else "",
    )
    return [
        SearchableTable("All cells", table, "cell", _FILTERS, f"times in {CELL_UNIT}", "fork 64MiB", anchor="cells")
    ]


def _warnings(results: Results) -> list[DocumentBlock]:
    """Cells without a result, and the warnings of each kind."""
    entries = [
        Statement(f"{counted(len(cells), 'cell')} without a result. {reason}", cells=[status.cell for status in cells])
        for reason, cells in failures(results)
    ]
    kinds = warning_groups(results)
    entries += [Statement(each.sentences[0], each.sentences[1:], each.next_step, _unnamed(each)) for each in kinds]
    if not entries:
        return []
    link = f"Warnings ({len(kinds)})" if kinds else "Warnings"
    return [Heading("Warnings", link=link, anchor="warnings"), Statements(entries, is_warning=True)]
