"""A program's explanation as tables of texts and sentences: the same for terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.tracing.parts import COUNTS, part_of
from clonometer.tracing.types import IntervalEstimate
from clonometer.tracing.work.types import FUTEX_PLACES, GapPart, WorkExplanation, WorkSide
from clonometer.units import (
    format_duration,
    format_figure,
    format_number,
    format_share,
    supported_decimals,
    table_unit,
)
from clonometer.views.explain_texts import lost_and_grown, not_seen, percent, signed_duration
from clonometer.views.table import Column, Table, table_of_rows
from clonometer.words import counted

_MOST_DELAYS = 4
_LEAST_SHARE = 0.0005


def named_sides(explanation: WorkExplanation) -> tuple[tuple[str, WorkSide], tuple[str, WorkSide]]:
    """Both sides, each with what it is called."""
    return ("threads", explanation.thread), ("processes", explanation.process)


def about(explanation: WorkExplanation) -> str:
    """Say what ran."""
    seen = f"{explanation.pairs} processes of each kind ({explanation.tier.how})"
    if explanation.tier.name == "tracepoints":
        traced = f"{explanation.thread.executions} and {explanation.process.executions} executions"
        seen += f", alternating with as many untraced ones: {traced} traced"
    return (
        f"{counted(explanation.workers, 'worker')} on {counted(explanation.cpus, 'CPU')}, each up to "
        f"{explanation.numbers:,}; {seen}. Means over the workers, which add up to the whole program's time; "
        f"differences "
        "over pairs of processes, with 95% intervals."
    )


def life_table(explanation: WorkExplanation) -> Table:
    """Parts of a worker's life on both sides, and what each adds to the gap."""
    return _budget_table(
        "Where a worker's time goes, from the program's start to its end", explanation, explanation.reasons
    )


def cpu_table(explanation: WorkExplanation) -> Table:
    """What the CPUs did meanwhile, on the same scale."""
    title = f"What the CPUs do in the meantime, all together divided by {explanation.cpus}"
    return _budget_table(title, explanation, explanation.cpu_reasons)


def _budget_table(title: str, explanation: WorkExplanation, reasons: Sequence[GapPart]) -> Table:
    wholes_ns = [side.whole_ns.value for _, side in named_sides(explanation)]
    unit = table_unit([max(wholes_ns)])
    rows = [
        (
            reason.label,
            _time(reason.thread_ns.value, unit),
            _time(reason.process_ns.value, unit),
            _signed(reason.difference_ns, unit),
            # A negative share that rounds to nothing is nothing.
            "" if reason.share is None else f"{round(100 * reason.share.value)}%",
        )
        for reason in reasons
    ]
    last = "" if all(reason.share is None for reason in reasons) else "100%"
    thread, process = (_time(whole_ns, unit) for whole_ns in wholes_ns)
    rows.append(("the whole program", thread, process, _signed(explanation.gap_ns, unit), last))
    # Of a gap that may be none there are no shares.
    head = ("part", "threads", "processes", "difference", *(("share",) if last else ()))
    secondary = (*head[4:], "threads", "processes")
    return table_of_rows(f"{title} ({unit})", head, tuple(row[: len(head)] for row in rows), "", secondary)


def _time(value_ns: float, unit: str) -> str:
    """A mean to three digits, no finer than a thousandth of the unit; one that is always 0 is a dash."""
    if value_ns == 0:
        return "-"
    decimals = min(3, max(0, supported_decimals(abs(value_ns), None, None, unit)))
    text = format_figure(abs(value_ns), decimals, unit)
    return ("-" if value_ns < 0 else "") + text if text.strip("0.,") else "< 0.001"


def _signed(figure: IntervalEstimate, unit: str) -> str:
    """A difference with its interval in a table's unit; one that is always 0 is a dash."""
    if figure.value == figure.low == figure.high == 0:
        return "0"
    half = (figure.high - figure.low) / 2
    size = max(abs(figure.value), half)
    decimals = min(3, supported_decimals(size, size - half, size + half, unit))
    value, low, high = (_plus(end, decimals, unit) for end in figure.ends)
    return f"{value} ({low} to {high})"


def _plus(value_ns: float, decimals: int, unit: str) -> str:
    text = format_figure(abs(value_ns), decimals, unit)
    sign = "" if not text.strip("0.,") else "-" if value_ns < 0 else "+"
    return sign + text


def count_table(explanation: WorkExplanation) -> Table:
    """How often things happen to a worker."""
    rows = [
        (COUNTS[name], *(_count(side.counts.get(name)) for side in (explanation.thread, explanation.process)))
        for name in COUNTS
        if name in explanation.thread.counts or name in explanation.process.counts
    ]
    return table_of_rows("A worker's events in one execution (means, 95% intervals)", ("event", "threads", "processes"),
                     tuple(rows))  # fmt: skip


def _count(figure: IntervalEstimate | None) -> str:
    if figure is None:
        return ""
    text = format_number(*figure.ends)
    if figure.low == figure.high:
        return text
    return f"{text} ({format_number(figure.low)} to {format_number(figure.high)})"


def meanings_table(explanation: WorkExplanation) -> Table:
    """What each part means."""
    ids = dict.fromkeys(reason.part for reason in (*explanation.reasons, *explanation.cpu_reasons))
    parts = list(map(part_of, ids))
    meanings = [part.meaning for part in parts]
    return Table([Column("part", [part.label for part in parts]), Column("meaning", meanings, prose=True)])


def sums(explanation: WorkExplanation) -> str:
    """The three sums that are always told: the gap untraced, what is unexplained, what tracing cost."""
    # CPU time that a clock's steps make too long is less than nothing, but not worth a sign.
    unexplained = explanation.unexplained if abs(explanation.unexplained) >= _LEAST_SHARE else 0.0
    text = f"Unexplained {format_share(unexplained)} of the workers' time; "
    if explanation.tier.name != "tracepoints":
        return f"{text}overhead none: nothing was traced. Threads less processes: {percent(explanation.gap)}."
    return (
        f"{text}overhead of tracing {percent(explanation.overhead)}. Threads less processes: "
        f"traced {percent(explanation.gap)}, untraced {percent(explanation.untraced_gap)}."
    )


def sentences(explanation: WorkExplanation) -> Iterator[str]:
    """What is known beside the parts: user code, futexes, slow executions."""
    yield from _user_sentences(explanation)
    for name, side in named_sides(explanation):
        yield from _futex_sentences(name, side)
    for name, side in named_sides(explanation):
        yield from _delay_sentences(name, side)


def _user_sentences(explanation: WorkExplanation) -> Iterator[str]:
    for reason in explanation.user_reasons:
        difference = f"{_interval(reason.difference_ns)} of the difference in user code, by estimate"
        if reason.what == "frequency":
            hz = [
                f"{side.frequency_hz.value / 1e6:,.0f}"
                for side in (explanation.thread, explanation.process)
                if side.frequency_hz
            ]
            yield f"CPU frequency ({' and '.join(hz)} MHz) makes {difference}."
        elif reason.each_ns is not None:
            yield f"Migrations, at {_interval(reason.each_ns)} each, make {difference}."


def _interval(figure: IntervalEstimate) -> str:
    ends = [signed_duration(end) if end else "0" for end in figure.ends]
    return ends[0] if figure.low == figure.high else f"{ends[0]} ({ends[1]} to {ends[2]})"


def _futex_sentences(name: str, side: WorkSide) -> Iterator[str]:
    for futex in side.futexes:
        many = "" if futex.addresses == 1 else f" ({futex.addresses} such)"
        where = f"{FUTEX_PLACES[futex.place]}{many}"
        yield (
            f"{name.capitalize()} sleep {format_number(futex.sleeps)} times per execution at {where}: "
            f"{format_duration(futex.wait_ns)} for all workers together."
        )


def _delay_sentences(name: str, side: WorkSide) -> Iterator[str]:
    if not side.delays:
        return
    named = ", ".join(
        f"{part_of(delay.part).label} {delay.share:.0%}" for delay in side.delays[:_MOST_DELAYS] if delay.share >= 0.01
    )
    extra = sum(delay.extra_ns.value for delay in side.delays)
    yield (
        f"What delays {name}: the slowest quarter ({side.slow} of {side.executions} executions) takes "
        f"{format_duration(max(extra, 0.0))} longer than the rest; of that {named}."
    )


def footnotes(explanation: WorkExplanation) -> Iterator[str]:
    """What was refused, what cannot be seen, what was lost."""
    yield from not_seen(explanation.tier)
    if room := lost_and_grown(explanation.lost, explanation.grown):
        yield room
