"""What an explanation of launches tells as tables: the budget, what makes a ratio, the system calls, the counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.tracing.parts import UNEXPLAINED, part_of
from clonometer.tracing.types import CallText, Counters, Counts, Explanation, Moment, Versus
from clonometer.units import format_duration, format_duration_interval, format_number, format_share
from clonometer.views.explain_texts import WHOLE, side_names, signed_duration
from clonometer.views.table import MISSING, Column, Table
from clonometer.words import stage_name

_LABEL_LEAST = 20
_SUMS = {"user": "all user code", "kernel": "all kernel code", "all": "everything"}
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


def budget_table(explanation: Explanation) -> Table:
    """Mean time of each part and its share; what no part covers, and the whole, last."""
    rest = explanation.unexplained_ns
    rows = [
        *(
            (part_of(each.part).title, format_duration_interval(*each.mean_ns.ends, 1.0), format_share(each.share))
            for each in explanation.budget
        ),
        # What is always nothing has no digits to resolve.
        (
            UNEXPLAINED,
            format_duration_interval(*rest.ends, 1.0) if rest.value else "0 ns",
            format_share(explanation.unexplained),
        ),
        (WHOLE, format_duration_interval(*explanation.reaped_ns.ends), "100%"),
    ]
    parts, means, shares = ([row[index] for row in rows] for index in range(3))
    return Table([Column("part", parts, least=16), Column("time", means, "right"), Column("share", shares, "right")])


def meanings_table(sides: Sequence[Explanation]) -> Table:
    """What the parts of any side mean."""
    meanings = {part_of(each.part).title: each.meaning for side in sides for each in side.budget}
    return Table([Column("part", list(meanings)), Column("meaning", list(meanings.values()), prose=True)])


def reasons_table(versus: Versus) -> Table:
    """Parts of the difference of two mechanisms, greatest first, and the whole."""
    against = versus.against
    first, second = (format_duration(side.reaped_ns.value) for side in versus.mechanisms)
    rows = [
        *(
            (
                part_of(reason.part).title,
                _time(reason.first_ns),
                _time(reason.second_ns),
                signed_duration(reason.difference_ns),
                f"{round(100 * reason.share)}%",
            )
            for reason in against.reasons
        ),
        (WHOLE, first, second, signed_duration(against.difference_ns), "100%"),
    ]
    heads = ("part", *side_names(versus), "difference", "share")
    label, *figures = ([row[index] for row in rows] for index in range(len(heads)))
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
    """Calls with their arguments and what they return, in their order."""
    texts = [f"{call.text} = {call.result}" for call in calls]
    return Table([Column("who", [call.who for call in calls]), Column("call", texts, code=True, prose=True)])


def events_table(moments: Sequence[Moment]) -> Table:
    """What happens in a launch, event by event."""
    return Table(
        [
            Column("µs", [f"{moment.time_ns / 1000:.2f}" for moment in moments], "right"),
            Column("who", [moment.who for moment in moments]),
            Column("CPU", ["" if moment.cpu < 0 else str(moment.cpu) for moment in moments], "right"),
            Column("event", [moment.words for moment in moments], prose=True),
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
        yield f"No {counters.set} counters here: {counters.reason}."
        return
    for why in dict.fromkeys(counters.missing.values()):
        names = ", ".join(name for name, reason in counters.missing.items() if reason == why)
        yield f"Not counted: {names}: {why}."
    if counters.running < 0.999:
        yield f"The counters counted {counters.running:.0%} of the time only: counts are scaled up by that."


def _counter_label(row: Counts) -> str:
    if row.kind == "part":
        return part_of(row.id).title
    return f"until {stage_name(row.id)}" if row.kind == "stage" else _SUMS.get(row.id, row.id)


def _count(value: float) -> str:
    if value < 0.005:
        return "0"
    return f"{value:,.0f}" if value >= 1000 else format_number(value)
