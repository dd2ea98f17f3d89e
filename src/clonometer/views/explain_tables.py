"""What an explanation of launches tells as tables: the budget, what makes a ratio, the system calls, the counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.tracing.parts import UNEXPLAINED, part_of
from clonometer.tracing.types import CallText, Counters, Counts, Explanation, Moment, Versus
from clonometer.units import format_duration, format_duration_interval, format_number, format_share
from clonometer.views.explain_texts import side_names, signed_duration
from clonometer.views.table import MISSING, Column, Table
from clonometer.words import stage_name

_WHOLE = "all until reaped"
_LABEL_LEAST = 20
_SUMS = {"user": "all user code", "kernel": "all in the kernel", "all": "everything"}
_HEADS = {
    "cycles": "cycles",
    "instructions": "instr.",
    "cache_misses": "cache miss",
    "branch_misses": "branch miss",
    "tlb_misses": "TLB miss",
    "cpu_clock_ns": "CPU ns",
    "page_faults": "faults",
    "context_switches": "switches",
    "cpu_migrations": "migrations",
    "major_faults": "major faults",
}


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
            Column("calls per launch", [f"{call.count:.3g}" for call in calls], "right"),
            Column("median each", [format_duration(call.each_ns) for call in calls], "right"),
            Column("total per launch", [format_duration(call.launch_ns) for call in calls], "right"),
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


def counter_table(counters: Counters) -> Table:
    """Means over launches, in the order of the parts; then stages, user and kernel, and all.

    Instructions per cycle come first where there are any, then what was counted.
    """
    rows = counters.rows
    per_cycle = Column("IPC", [MISSING if row.ipc is None else f"{row.ipc:.2f}" for row in rows], "right")
    return Table(
        [
            Column("", [_counter_label(row) for row in rows], least=_LABEL_LEAST),
            *([] if per_cycle.is_empty else [per_cycle]),
            *(
                Column(_HEADS.get(name, name), [_count(row.values[name]) for row in rows], "right", drop=drop)
                for drop, name in zip(range(len(counters.names), 0, -1), counters.names, strict=True)
            ),
        ]
    )


def not_counted(counters: Counters) -> Iterator[str]:
    """Sentences about what is missing, and how much was scaled."""
    if counters.reason is not None:
        yield f"no {counters.set} counters here: {counters.reason}"
        return
    for why in dict.fromkeys(counters.missing.values()):
        names = ", ".join(name for name, reason in counters.missing.items() if reason == why)
        yield f"not counted: {names}: {why}"
    if counters.running < 0.999:
        yield f"the counters counted {counters.running:.0%} of the time only: counts are scaled up by that"


def _counter_label(row: Counts) -> str:
    if row.kind == "part":
        return part_of(row.id).title
    return f"until {stage_name(row.id)}" if row.kind == "stage" else _SUMS.get(row.id, row.id)


def _count(value: float) -> str:
    if value < 0.005:
        return "0"
    return f"{value:,.0f}" if value >= 1000 else format_number(value)
