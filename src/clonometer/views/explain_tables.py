"""What an explanation of launches tells as tables: the budget, what makes a ratio, the system calls."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.explain.parts import UNEXPLAINED, part_of
from clonometer.explain.types import CallText, Explanation, Moment, Versus
from clonometer.units import format_duration, format_duration_interval, format_share
from clonometer.views.explain_texts import side_names, signed_duration
from clonometer.views.table import MISSING, Column, Table

_WHOLE = "all until reaped"


def budget_table(explanation: Explanation, *, total: bool) -> Table:
    """Mean time of each part, its share, and what it means; with ``total`` what no part covers, and the whole, last."""
    rows = [
        (
            part_of(each.part).title,
            format_duration_interval(*each.mean_ns.ends, 1.0),
            format_share(each.share),
            each.meaning,
        )
        for each in explanation.budget
    ]
    if total:
        rest, whole = explanation.unexplained_ns, format_duration_interval(*explanation.reaped_ns.ends)
        # What is always nothing has no digits to resolve.
        rest_text = format_duration_interval(*rest.ends, 1.0) if rest.value else "0 ns"
        rows.append((UNEXPLAINED, rest_text, format_share(explanation.unexplained), ""))
        rows.append((_WHOLE, whole, "100%", ""))
    parts, means, shares, meanings = ([row[place] for row in rows] for place in range(4))
    return Table(
        [
            Column("part", parts, least=16),
            Column("time", means, "right"),
            Column("share", shares, "right"),
            Column("meaning", meanings, prose=True, folded="notes"),
        ]
    )


def reasons_table(versus: Versus, *, total: bool) -> Table:
    """Parts of the difference of two mechanisms, greatest first; with ``total`` the whole last."""
    against = versus.against
    rows = [
        (
            part_of(reason.part).title,
            _time(reason.first_ns),
            _time(reason.second_ns),
            signed_duration(reason.difference_ns),
            f"{round(100 * reason.share)}%",
        )
        for reason in against.reasons
    ]
    if total:
        first, second = (format_duration(side.reaped_ns.value) for side in versus.mechanisms)
        rows.append((_WHOLE, first, second, signed_duration(against.difference_ns), "100%"))
    heads = ("part", *side_names(versus), "difference", "share")
    label, *figures = ([row[place] for row in rows] for place in range(len(heads)))
    return Table(
        [
            Column(heads[0], label, least=16),
            *(Column(head, texts, "right") for head, texts in zip(heads[1:], figures, strict=True)),
        ]
    )


def _time(mean_ns: float) -> str:
    return format_duration(mean_ns, resolution_ns=1.0) if mean_ns else MISSING


def calls_table(explanation: Explanation) -> Table:
    """System calls: who makes each, how often a launch, how long."""
    calls = explanation.calls
    return Table(
        [
            Column("call", [f"{call.who}: {call.name}" for call in calls], least=16),
            Column("a launch", [f"{call.count:.3g}" for call in calls], "right"),
            Column("median each", [format_duration(call.each_ns) for call in calls], "right"),
            Column("all of a launch", [format_duration(call.launch_ns) for call in calls], "right"),
        ]
    )


def listing_table(calls: Sequence[CallText]) -> Table:
    """Calls with their arguments, in their order."""
    return Table(
        [
            Column("who", [call.who for call in calls]),
            Column("call", [call.text for call in calls], code=True),
            Column("returns", [call.result for call in calls], code=True),
        ]
    )


def events_table(moments: Sequence[Moment]) -> Table:
    """What happens in a launch, event by event."""
    return Table(
        [
            Column("µs", [f"{moment.time_ns / 1000:.2f}" for moment in moments], "right"),
            Column("who", [moment.who for moment in moments]),
            Column("CPU", ["" if moment.cpu < 0 else str(moment.cpu) for moment in moments], "right"),
            Column("event", [moment.words for moment in moments]),
        ]
    )
