"""An explanation as text: the budget, the ratio of two, a timeline, the system calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clonometer.tracing.types import Counters, Explanation, Timeline, Versus
from clonometer.units import format_duration, format_share
from clonometer.views.explain_tables import (
    budget_table,
    calls_table,
    counter_table,
    events_table,
    listing_table,
    not_counted,
    reasons_table,
)
from clonometer.views.explain_texts import (
    TIMELINES,
    about_launches,
    lost_and_grown,
    not_seen,
    percent,
    predicted_sentence,
    side_names,
    steps_sentences,
    versus_sentence,
    versus_title,
    why_no_closer,
)
from clonometer.views.table import Table
from clonometer.views.terminal.table import draw_stack, draw_table
from clonometer.views.terminal.text import clean, painted, rendered, wrap, wrap_each
from clonometer.views.thinning import ends

_BAR = 24
_MOST_ROWS = 60
_UNLIMITED = 10_000


@rendered(least_width=40)
def render_explanation(
    explanation: Explanation, *, width: int, colour: bool, timeline: bool = False, calls: bool = False
) -> Iterator[str]:
    """Write one mechanism's budget, and what was asked for beside it."""
    yield from painted(wrap(f"Where a launch's time goes: {clean(explanation.cell)}", width), "bold", colour)
    yield from (*_about(explanation, width), "")
    yield from _budget(explanation, width)
    yield from ("", *_sums(explanation, width), *_steps(explanation, width), "")
    yield from _calls(explanation, width) if calls else _made(explanation, width)
    if explanation.listing:
        yield from ("", *_listing(explanation, width))
    if explanation.counters is not None and explanation.counters.rows:
        yield from ("", *_counter_lines(explanation.counters, width))
    for shown_timeline in explanation.timelines if timeline else ():
        yield from ("", *_timeline(shown_timeline, width))
    yield from _footnotes(explanation, width)


@rendered(least_width=40)
def render_versus(versus: Versus, *, width: int, colour: bool) -> Iterator[str]:
    """Write two budgets side by side and the parts that make their ratio."""
    first, second = versus.first, versus.second
    yield from painted(wrap(clean(versus_title(versus)), width), "bold", colour)
    yield from (*_about(first, width), "")
    yield from wrap(
        f"{versus_sentence(versus)} The difference is {format_duration(versus.against.difference_ns)}. These are its "
        "parts, greatest first:",
        width,
    )
    yield from ("", *draw_table(reasons_table(versus, total=True), width, colour=False), "")
    for name, side in zip(side_names(versus), versus.mechanisms, strict=True):
        quality = f"unexplained {format_share(side.unexplained)}, overhead of tracing {percent(side.overhead)}"
        yield from wrap(f"{name}: {clean(side.cell)}: {quality}", width)
    notes = _footnotes(first, width)
    yield from (*notes, *(line for line in _footnotes(second, width) if line not in notes))


def _about(explanation: Explanation, width: int) -> list[str]:
    low, high = (f"{end:.0%}" for end in explanation.band)
    why = why_no_closer(explanation.tier)
    first = wrap(clean(why), width, bullet="! ") if why is not None else []
    return first + wrap(
        f"{about_launches(explanation)}; means over launches between the {low} and {high} quantiles of each "
        "process, with 95% intervals.",
        width,
    )


def _budget(explanation: Explanation, width: int) -> Iterator[str]:
    budget = budget_table(explanation, total=True)
    heading, *lines = draw_table(Table(budget.columns[:-1]), width, colour=False)
    yield heading
    longest_bar = max(0, min(_BAR, width - max(len(part) for line in lines for part in line.splitlines()) - 2))
    greatest = max((share.share for share in explanation.budget), default=1.0)
    for line, share in zip(lines, explanation.budget, strict=False):
        bar = "█" * max(1 if longest_bar else 0, round(longest_bar * share.share / greatest))
        first, *rest = line.splitlines()
        yield "\n".join([f"{first}  {bar}".rstrip(), *rest])
    yield from lines[len(explanation.budget) :]


def _sums(explanation: Explanation, width: int) -> list[str]:
    traced, untraced = format_duration(explanation.traced_median_ns), format_duration(explanation.untraced_median_ns)
    return wrap(
        f"overhead {percent(explanation.overhead)}: the median traced launch took {traced}, the median untraced "
        f"one {untraced}.",
        width,
    ) + wrap(predicted_sentence(explanation) or "", width)


def _steps(explanation: Explanation, width: int) -> list[str]:
    sentences = steps_sentences(explanation)
    return ["", *wrap(sentences[0], width), *wrap_each(sentences[1:], width, bullet="- ")] if sentences else []


def _calls(explanation: Explanation, width: int) -> Iterator[str]:
    if not explanation.calls:
        yield "system calls: none could be seen"
        return
    note = ", times inflated by ptrace" if explanation.calls_inflated else ""
    yield f"system calls of a launch{note}:"
    yield from draw_table(calls_table(explanation), width, colour=False)
    yield from _made(explanation, width)


def _made(explanation: Explanation, width: int) -> Iterator[str]:
    for task in explanation.new_tasks:
        names = " | ".join(task.flags) or "no flags"
        yield from wrap(f"new task ({task.count:.3g} a launch): {names}", width)
    for program in explanation.programs:
        yield from wrap(f"program ({program.count:.3g} a launch): {clean(program.file)}", width)
    if explanation.calls:
        makes = sum(call.count for call in explanation.calls if call.who == "parent")
        children = sum(call.count for call in explanation.calls if call.who == "child")
        yield from wrap(f"system calls of a launch: {makes:.3g} by the parent, {children:.3g} by what it makes", width)


def _timeline(timeline: Timeline, width: int) -> Iterator[str]:
    yield from wrap(f"timeline of {TIMELINES[timeline.which]}: {format_duration(timeline.reaped_ns)}", width)
    head, left_out = ends(len(timeline.moments), _MOST_ROWS)
    shown = [*timeline.moments[:head], *timeline.moments[head + left_out :]]
    lines = _last_wrapped(events_table(shown), width)
    yield from lines[: head + 1]
    if left_out:
        yield from wrap(f"... {left_out:,} events are left out here; --json and --trace have them all", width)
    yield from lines[head + 1 :]


def _footnotes(explanation: Explanation, width: int) -> list[str]:
    lines = [line for text in not_seen(explanation.tier) for line in ("", *wrap(text, width))]
    if explanation.counters is not None:
        lines += wrap_each(not_counted(explanation.counters), width)
    lines += wrap(lost_and_grown(explanation.lost, explanation.grown), width)
    return lines + wrap_each(explanation.notes, width, bullet="! ")


def _listing(explanation: Explanation, width: int) -> Iterator[str]:
    yield from wrap("the calls of a launch with their arguments, by ptrace, which says nothing of their times:", width)
    who, call, returns = listing_table(explanation.listing).columns
    texts = [f"{text} = {result}" for text, result in zip(call.texts, returns.texts, strict=True)]
    _, *rows = _last_wrapped(Table([who, replace(call, texts=texts)]), width)
    yield from rows


def _last_wrapped(table: Table, width: int) -> list[str]:
    """An entry for the heading and for each row; what has no room in the last column goes on below it."""
    lines = draw_table(table, _UNLIMITED, colour=False)
    indent = " " * lines[0].index(table.head[-1])
    return ["\n".join(wrap(line[len(indent) :], width, bullet=line[: len(indent)])) for line in lines]


def _counter_lines(counters: Counters, width: int) -> Iterator[str]:
    """Write the means of a launch; every piece includes what noting its events took."""
    yield from wrap(
        f"{counters.set} counters, means of {counters.launches:,} launches that were traced for them alone; every row "
        "includes what noting its events took",
        width,
    )
    drawn = draw_stack([counter_table(counters)], width, colour=False)
    heading, *lines = drawn.tables[0]
    yield heading
    kind = "part"
    for row, line in zip(counters.rows, lines, strict=True):
        if row.kind != kind and row.kind in ("stage", "mode"):
            yield ""
        kind = row.kind
        yield line
    if drawn.dropped:
        yield f"(left out at {width} columns: {', '.join(drawn.dropped)})"
