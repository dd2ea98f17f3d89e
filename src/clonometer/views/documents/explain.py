"""An explanation of launches: the answer, its parts on one time axis, what a launch does, how that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.tracing.types import Explanation, Timeline, Versus
from clonometer.tracing.work.types import AnyExplanation, WorkExplanation
from clonometer.units import format_duration, format_share
from clonometer.views.document import (
    BulletList,
    Document,
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.documents.work import work_document
from clonometer.views.explain_panels import legend
from clonometer.views.explain_picture import kinds_of_time, launch_panels, slow_panels
from clonometer.views.explain_tables import (
    budget_table,
    calls_table,
    counter_table,
    events_table,
    listing_table,
    meanings_table,
    not_counted,
    reasons_table,
)
from clonometer.views.explain_texts import (
    TIMELINES,
    about_launches,
    capitalized,
    cell_title,
    difference_sentence,
    lost_and_grown,
    made_sentences,
    not_seen,
    percent,
    predicted_sentence,
    sentence,
    side_names,
    steps_sentences,
    versus_sentence,
    versus_title,
    why_no_closer,
)
from clonometer.views.table import Column, Table
from clonometer.views.thinning import MOST_DRAWN, ends

_BAR = 12
# Events that a terminal shows; a page has more room.
_TERMINAL_ROWS = 60
_POINT = "Point at a bar or a mark to see what it means. All charts share one time axis."
_THINNED = " Neighbours too short to draw are joined, and overlapping marks are left out; sums are exact."


def explanation_document(explanation: AnyExplanation, *, timeline: bool = False, calls: bool = False) -> Document:
    """Make a document of any explanation: of launches as `explain_document` does."""
    if isinstance(explanation, WorkExplanation):
        return work_document(explanation)
    return explain_document(explanation, timeline=timeline, calls=calls)


def explain_document(explanation: Explanation | Versus, *, timeline: bool = False, calls: bool = False) -> Document:
    """Make a document of where the time of a launch goes, or of what two differ by.

    A page has all of it; ``timeline`` and ``calls``: a terminal has single launches and system calls too.
    """
    sides = explanation.mechanisms
    names: Sequence[str] = ("",)
    is_pair = isinstance(explanation, Versus)
    if isinstance(explanation, Versus):
        title = capitalized(versus_title(explanation))
        lead = f"{versus_sentence(explanation)} {difference_sentence(explanation)}"
        names, table = side_names(explanation), TableBlock(reasons_table(explanation))
    else:
        title, lead = f"Where the time goes: {cell_title(explanation.cell)}", sentence(explanation)
        table = TableBlock(budget_table(explanation), (_with_bars(explanation),))
    kinds = legend(kinds_of_time(sides))
    slow = slow_panels(explanation)
    groups: list[list[DocumentBlock]] = [
        [Paragraph(title, "bold"), Paragraph(lead), *map(Note, map(capitalized, _cautions(sides)))],
        [Heading("What differs" if is_pair else "Where the time goes"),
         FigureBlock("", f"{_POINT}{_THINNED if _is_thinned(sides) else ''}", launch_panels(explanation), kinds, True),
         table],
        [Fold("What each part means", [TableBlock(meanings_table(sides))]),
         *([Fold("A slow launch: the p99", [FigureBlock("", "", slow, kinds, True)])] if slow else [])],
    ]  # fmt: skip
    for name, side in zip(names, sides, strict=True):
        groups += _details(side, f" of {name}" if name else "", timeline=timeline, calls=calls)
    return Document("explain", title, lead, [*groups, _measured(names, sides)])


def _cautions(sides: Sequence[Explanation]) -> list[str]:
    """What a reader must know before the figures, said once."""
    return list(dict.fromkeys(text for side in sides for text in (why_no_closer(side.tier), *side.notes) if text))


def _is_thinned(sides: Sequence[Explanation]) -> bool:
    timelines = [timeline for side in sides for timeline in side.timelines]
    return any(max(len(each.moments), len(each.segments)) > MOST_DRAWN for each in timelines)


def _with_bars(explanation: Explanation) -> Table:
    """The budget with a bar a part, which a terminal draws in place of a chart."""
    table = budget_table(explanation)
    greatest = max((part.share for part in explanation.budget), default=1.0)
    bars = ["█" * max(1, round(_BAR * part.share / greatest)) for part in explanation.budget]
    missing = len(table.rows) - len(bars)
    return replace(table, columns=[*table.columns, Column("", [*bars, *[""] * missing], drop=1)])


def _details(side: Explanation, of: str, *, timeline: bool, calls: bool) -> list[list[DocumentBlock]]:
    """What a launch does: what it starts, its system calls, its events, what was counted."""
    steps = [f"{capitalized(text)}." for text in steps_sentences(side)]
    does: list[DocumentBlock] = [
        Heading(f"What a launch{of} does"), BulletList([*made_sentences(side), *steps]),
        Paragraph(predicted_sentence(side) or ""),
    ]  # fmt: skip
    folds: list[DocumentBlock] = []
    if of:
        folds.append(Fold("Each part with its interval", [TableBlock(budget_table(side))]))
    if side.calls:
        inflated = ", times inflated by ptrace" if side.calls_inflated else ""
        folds.append(Fold(f"Its system calls{inflated}", [TableBlock(calls_table(side))], calls))
    if side.listing:
        heading = "Its calls with their arguments, read by ptrace, which cannot time them"
        listing = listing_table(side.listing)
        folds.append(Fold(heading, [TableBlock(_shortened(listing, *ends(len(side.listing))), (listing,))], True))
    counters = side.counters
    if counters is not None and counters.rows:
        about = (
            f"{counters.set.capitalize()} counters, means of {counters.launches:,} launches traced only for this; "
            "every row includes the cost of recording its events."
        )
        blocks: list[DocumentBlock] = [Paragraph(about), TableBlock(counter_table(counters), names_dropped=True)]
        folds.append(Fold("What the processor counted", blocks, True))
    folds += [_events(each, timeline) for each in side.timelines]
    return [does, *([fold] for fold in folds)]


def _events(timeline: Timeline, wished: bool) -> Fold:
    heading = f"Each event of {TIMELINES[timeline.which]}, {format_duration(timeline.reaped_ns)}"
    table = events_table(timeline.moments)
    meanings = Column("meaning", [moment.meaning for moment in timeline.moments], prose=True)
    return Fold(heading, [_ends_table(table, replace(table, columns=[*table.columns, meanings]))], wished)


def _ends_table(at_terminal: Table, on_page: Table) -> TableBlock:
    """The first and the last rows of a long table, of which a page has more."""
    count = len(on_page.rows)
    return TableBlock(_shortened(on_page, *ends(count)), (_shortened(at_terminal, *ends(count, _TERMINAL_ROWS)),))


def _shortened(table: Table, head: int, left_out: int) -> Table:
    if not left_out:
        return table
    columns = [replace(each, texts=[*each.texts[:head], *each.texts[head + left_out :]]) for each in table.columns]
    return replace(table, columns=columns, note=f"{left_out:,} rows in the middle are left out; --json has them all.")


def _measured(names: Sequence[str], sides: Sequence[Explanation]) -> list[DocumentBlock]:
    """How it was measured, what cannot be seen so, and what is missing; what holds of both sides once."""
    low, high = (f"{end:.0%}" for end in sides[0].band)
    texts = []
    for name, side in zip(names, sides, strict=True):
        traced, untraced = map(format_duration, (side.traced_median_ns, side.untraced_median_ns))
        texts.append(
            f"{f'{capitalized(name)} is' if name else 'Cell'} {side.cell}: {about_launches(side)}. Unexplained "
            f"{format_share(side.unexplained)}; overhead of tracing {percent(side.overhead)}, as the median traced "
            f"launch took {traced}, the median untraced one {untraced}."
        )
    texts.append(f"Means over launches between the {low} and {high} quantiles of each process, with 95% intervals.")
    for side in sides:
        besides = [*not_seen(side.tier), *(not_counted(side.counters) if side.counters is not None else [])]
        texts += [*besides, *filter(None, [lost_and_grown(side.lost, side.grown)])]
    return [Heading("How it was measured"), *map(Paragraph, dict.fromkeys(map(capitalized, texts)))]
