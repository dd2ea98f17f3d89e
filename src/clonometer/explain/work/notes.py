"""What a reader of a program's explanation must know, and its conclusion, in words."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.explain.parts import UNEXPLAINED
from clonometer.explain.work.types import FUTEX_PLACES, GapPart, WorkExplanation

# Shares of the gap from which on a part is named, at most how many, and what overhead is too much.
_NAMED = 0.1
_MOST_NAMED = 4
_MUCH_OVERHEAD = 0.15
_MUCH_UNEXPLAINED = 0.1
_MUCH_WITHHELD = 0.1


def notes_of(one: WorkExplanation) -> Iterator[str]:
    """Warnings, each with what it means."""
    if one.lost > 0:
        yield f"{one.lost} events were lost even with more room: parts of some executions may be wrong"
    if one.missing > 0:
        yield f"{one.missing} executions are left out: not all of their workers were seen"
    if one.overhead.value > _MUCH_OVERHEAD:
        yield (
            f"tracing made programs {one.overhead.value:.0%} longer: parts with many events (system calls, faults) are "
            "too long"
        )
    if abs(one.unexplained) > _MUCH_UNEXPLAINED:
        yield f"{one.unexplained:.0%} of the workers' time is in no part: events are missing"
    if _turned(one):
        yield "traced and untraced programs differ in who is slower: trust the untraced gap, not its parts"
    busy = [reason.process_ns.value for reason in one.cpu_reasons if reason.part == "withheld"]
    if busy and busy[0] > _MUCH_WITHHELD * one.process.whole_ns.value:
        yield (
            f"other programs had {busy[0] / one.process.whole_ns.value:.0%} of the CPUs' time while workers waited: "
            "intervals are wide; measure on a quiet machine"
        )
    if one.pairs < 5:
        yield f"{one.pairs} pairs of processes give intervals that are too narrow: 12 are better"


def _turned(one: WorkExplanation) -> bool:
    other_sign = (one.gap.value > 0) != (one.untraced_gap.value > 0)
    return other_sign and one.tier.name == "tracepoints" and one.gap.excludes_zero and one.untraced_gap.excludes_zero


def main_reasons(one: WorkExplanation, reasons: tuple[GapPart, ...]) -> list[GapPart]:
    """The parts with the greatest shares of the gap in its own direction, greatest first."""
    known = [
        reason
        for reason in reasons
        if reason.share is not None and reason.share.value >= _NAMED and reason.part != UNEXPLAINED
    ]
    return sorted(known, key=lambda reason: -(reason.share.value if reason.share else 0.0))[:_MOST_NAMED]


def conclusion(one: WorkExplanation) -> str:
    """Who is slower, by how much, and where that time goes, in one or two sentences."""
    if not one.told_apart:
        ends = f"{one.gap.value:+.1%} ({one.gap.low:+.1%} to {one.gap.high:+.1%})"
        return (
            "Threads and processes cannot be told apart here: the difference, threads minus processes, is "
            f"{ends}: consistent with zero."
        )
    slower, other = ("Threads", "processes") if one.gap_ns.value > 0 else ("Processes", "threads")
    rest = next((reason.share for reason in one.reasons if reason.part == UNEXPLAINED), None)
    size = abs(one.gap.value) if one.gap_ns.value > 0 else -one.gap.value / (1 + one.gap.value)
    text = f"{slower} need {size:.1%} more than {other}"
    named = main_reasons(one, one.reasons)
    if named:
        text += ": " + "; ".join(_named(one, reason) for reason in named)
    text += f"; unexplained {round(100 * rest.value) if rest else 0}% of it."
    busy = main_reasons(one, one.cpu_reasons)
    if busy and any(reason.part == "run_queue" for reason in named):
        on_cpus = ", ".join(f"{reason.label} {reason.share.value:.0%}" for reason in busy if reason.share)
        text += f" On the CPUs, which workers wait for, the gap is: {on_cpus}."
    if _turned(one):
        text += f" Untraced the sign is another, {one.untraced_gap.value:+.1%}: do not rely on these parts."
    return text


def _named(one: WorkExplanation, reason: GapPart) -> str:
    text = f"{reason.share.value if reason.share else 0.0:.0%} of it {reason.label}"
    side = one.thread if one.gap_ns.value > 0 else one.process
    if reason.part == "futex_wait" and side.futexes:
        text += f" ({FUTEX_PLACES[side.futexes[0].place]})"
    return text
