"""What an explanation of launches tells as tables: the budget, what makes a ratio, the system calls."""

from __future__ import annotations

from clonometer.explain.parts import part_of
from clonometer.explain.types import Explanation, Versus
from clonometer.units import format_duration, format_duration_interval, format_share
from clonometer.views.table import MISSING, Column, Table


def budget_table(explanation: Explanation) -> Table:
    """Mean time of each part, its share, and what it means."""
    budget = explanation.budget
    means = [format_duration_interval(each.mean_ns.value, each.mean_ns.low, each.mean_ns.high, 1.0) for each in budget]
    return Table(
        [
            Column("part", [part_of(each.part).title for each in budget]),
            Column("time", means, "right"),
            Column("share", [format_share(each.share) for each in budget], "right"),
            Column("meaning", [each.meaning for each in budget], prose=True),
        ]
    )


def reasons_table(versus: Versus, *, total: bool) -> Table:
    """Parts of the difference of two mechanisms, greatest first; with ``total`` the whole of it last."""
    against = versus.against
    rows = [
        (
            part_of(reason.part).title,
            _time(reason.first_ns),
            _time(reason.second_ns),
            _signed(reason.difference_ns),
            f"{round(100 * reason.share)}%",
        )
        for reason in against.reasons
    ]
    if total:
        first, second = (format_duration(side.reaped_ns.value) for side in versus.mechanisms)
        rows.append(("reaped: all of it", first, second, _signed(against.difference_ns), "100%"))
    heads = ("part", "first", "second", "difference", "of it")
    label, *figures = ([row[place] for row in rows] for place in range(len(heads)))
    return Table(
        [
            Column(heads[0], label, least=16),
            *(Column(head, texts, "right") for head, texts in zip(heads[1:], figures, strict=True)),
        ]
    )


def _time(mean_ns: float) -> str:
    return format_duration(mean_ns, resolution_ns=1.0) if mean_ns else MISSING


def _signed(difference_ns: float) -> str:
    return f"{'-' if difference_ns < 0 else '+'}{format_duration(abs(difference_ns), resolution_ns=1.0)}"


def calls_table(explanation: Explanation) -> Table:
    """System calls: who makes each, how often a launch, how long."""
    calls = explanation.calls
    return Table(
        [
            Column("call", [f"{call.who}: {call.name}" for call in calls]),
            Column("a launch", [f"{call.count:.3g}" for call in calls], "right"),
            Column("median each", [format_duration(call.each_ns) for call in calls], "right"),
            Column("all of a launch", [format_duration(call.launch_ns) for call in calls], "right"),
        ]
    )
