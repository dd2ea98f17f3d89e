"""What a reader of a program's explanation must know, and its conclusion, in words."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.tracing.parts import UNEXPLAINED
from clonometer.tracing.work.types import FUTEX_PLACES, GapPart, WorkExplanation

# Shares of the gap from which on a part is named, at most how many, and what overhead is too much.
_NAMED = 0.1
_MOST_NAMED = 4
_MUCH_OVERHEAD = 0.15
_MUCH_UNEXPLAINED = 0.1
_MUCH_WITHHELD = 0.1


def notes_of(explanation: WorkExplanation) -> Iterator[str]:
    """Warnings, each with what it means."""
    if explanation.lost > 0:
        yield f"{explanation.lost} events were lost even with a larger buffer: parts of some executions may be wrong"
    if explanation.missing > 0:
        yield f"{explanation.missing} executions are left out: not all of their workers were traced"
    if explanation.overhead.value > _MUCH_OVERHEAD:
        yield (
            f"tracing made programs {explanation.overhead.value:.0%} longer: parts with many events (system calls, "
            "faults) are too long"
        )
    if abs(explanation.unexplained) > _MUCH_UNEXPLAINED:
        yield f"{explanation.unexplained:.0%} of the workers' time belongs to no part: events are missing"
    if _turned(explanation):
        yield "traced and untraced programs disagree on which is slower: trust the untraced gap, not its parts"
    busy = [reason.process_ns.value for reason in explanation.cpu_reasons if reason.part == "withheld"]
    if busy and busy[0] > _MUCH_WITHHELD * explanation.process.whole_ns.value:
        yield (
            f"other programs had {busy[0] / explanation.process.whole_ns.value:.0%} of the CPUs' time while workers "
            "waited: intervals are wide; measure on a quiet machine"
        )
    if explanation.pairs < 5:
        yield f"{explanation.pairs} pairs of processes give intervals that are too narrow: 12 are better"


def _turned(explanation: WorkExplanation) -> bool:
    other_sign = (explanation.gap.value > 0) != (explanation.untraced_gap.value > 0)
    return (
        other_sign
        and explanation.tier.name == "tracepoints"
        and explanation.gap.excludes_zero
        and explanation.untraced_gap.excludes_zero
    )


def main_reasons(reasons: tuple[GapPart, ...]) -> list[GapPart]:
    """The parts with the greatest shares of the gap in its own direction, greatest first."""
    known = [
        reason
        for reason in reasons
        if reason.share is not None and reason.share.value >= _NAMED and reason.part != UNEXPLAINED
    ]
    return sorted(known, key=lambda reason: -(reason.share.value if reason.share else 0.0))[:_MOST_NAMED]


def conclusion(explanation: WorkExplanation) -> str:
    """Who is slower, by how much, and where that time goes, in one or two sentences."""
    if not explanation.distinguishable:
        gap = explanation.gap
        return (
            "Cannot tell a difference between threads and processes here: threads took "
            f"{abs(gap.value):.1%} {'more' if gap.value > 0 else 'less'} time, but the interval "
            f"({gap.low:+.1%} to {gap.high:+.1%}) includes zero."
        )
    slower, other = ("Threads", "processes") if explanation.gap_ns.value > 0 else ("Processes", "threads")
    rest = next((reason.share for reason in explanation.reasons if reason.part == UNEXPLAINED), None)
    size = (
        abs(explanation.gap.value)
        if explanation.gap_ns.value > 0
        else -explanation.gap.value / (1 + explanation.gap.value)
    )
    named = main_reasons(explanation.reasons)
    unexplained = f"unexplained {round(100 * rest.value) if rest else 0}%"
    shares = ", ".join([*(_named(explanation, reason) for reason in named), unexplained])
    text = f"{slower} need {size:.1%} more time than {other}. Shares of that difference: {shares}."
    busy = main_reasons(explanation.cpu_reasons)
    if busy and any(reason.part == "run_queue" for reason in named):
        on_cpus = ", ".join(f"{reason.label} {reason.share.value:.0%}" for reason in busy if reason.share)
        text += f" Workers wait for the CPUs; what the CPUs do explains the difference: {on_cpus}."
    if _turned(explanation):
        text += (
            f" Untraced, the sign is the opposite, {explanation.untraced_gap.value:+.1%}: do not rely on these parts."
        )
    return text


def _named(explanation: WorkExplanation, reason: GapPart) -> str:
    text = reason.label
    side = explanation.thread if explanation.gap_ns.value > 0 else explanation.process
    if reason.part == "futex_wait" and side.futexes:
        text += f" ({FUTEX_PLACES[side.futexes[0].place]})"
    return f"{text} {reason.share.value if reason.share else 0.0:.0%}"
