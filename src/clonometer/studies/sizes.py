"""The number that a claim gives, beside ours; where they differ, the condition under which this machine gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from clonometer.results.change import Change
from clonometer.stats.interval import Interval
from clonometer.studies.cells import axes_of, condition_words
from clonometer.studies.judge import Judge
from clonometer.studies.pairings import LAUNCH, pairs_of
from clonometer.studies.published import load_published
from clonometer.studies.thresholds import QUARTER
from clonometer.studies.types import Pair, Size, Verdict
from clonometer.studies.verdicts import JudgedPart, interval_of, judged_ratio
from clonometer.units import approximate_bytes, format_ratio, parse_bytes
from clonometer.verdicts import Status

_HEAP = ("parent_bytes", "pages")


def sized(
    id_: str, direction: Verdict, part: JudgedPart, judge: Judge, *, thread: str = "", quantity: str = ""
) -> Verdict:
    """Add to a verdict of a claim's direction what is to be said of its size.

    ``direction`` is the verdict without the claim's number, ``part`` what the number is held against. ``thread`` is
    the cell of the claim's thread, ``quantity`` that in which other conditions are searched for the number; none where
    there are no others.
    """
    published = load_published().item(id_).size
    assert published is not None
    size, agrees = part.value.over(published), _agrees(part.value, published)
    given, cells = (None, ()) if agrees == Status.HOLDS or not thread else _given(judge, published, thread, quantity)
    in_direction = direction.status == Status.HOLDS and agrees != Status.HOLDS
    status = Status.HOLDS_IN_DIRECTION if in_direction else direction.status
    reason = f"{_sentence(status, part.value, published, agrees)} {direction.reason}"
    if thread and agrees != Status.HOLDS:
        reason += f" {_where(given, judge, published, quantity)}"
    return replace(
        direction,
        status=status,
        reason=reason,
        size=Size(published, *size.ends, agrees, given),
        evidence=tuple(dict.fromkeys([*direction.evidence, *cells])),
    )


def _agrees(ours: Interval, published: float) -> Status:
    return judged_ratio("", ours.over(published), "alike", QUARTER, ()).outcome()


def _sentence(status: Status, ours: Interval, published: float, agrees: Status) -> str:
    lead = "Holds in direction: " if status == Status.HOLDS_IN_DIRECTION else ""
    tail = {Status.HOLDS: f", as in the study ({published:g})", Status.FAILS: f", not {published:g}"}.get(
        agrees, f"; cannot tell whether that is the study's {published:g}"
    )
    return f"{lead}{format_ratio(*ours.ends)}{tail}."


def _given(judge: Judge, published: float, thread: str, quantity: str) -> tuple[str | None, tuple[str, ...]]:
    """Look for the number among all conditions that were measured, and between those that differ in the heap alone."""
    wanted = axes_of(thread)[1]
    heaps = _with_heaps(judge, wanted, quantity)
    for (less, below), (more, above) in pairwise(heaps):
        ends = [_inverse(pair).value or 0.0 for pair in (below, above)]
        if min(ends) <= published <= max(ends):
            # A thread costs the same whatever the heap, a fork so much a page: their ratio lies on a line.
            heap = less + (more - less) * (published - ends[0]) / (ends[1] - ends[0]) if ends[0] != ends[1] else less
            sides = ", ".join(
                f"{_inverse(pair).text} with {_heap(size)}" for size, pair in ((less, below), (more, above))
            )
            return f"with about {_about(heap)} of heap ({sides})", (*below.cells, *above.cells)
    others = [
        pair
        for pair in _pairs(judge, quantity)
        if (ratio := interval_of(_inverse(pair))) and _agrees(ratio, published) == Status.HOLDS
    ]
    if not others:
        return None, ()

    def distance(pair: Pair) -> int:
        return len(set(pair.condition.items()) ^ set(wanted.items()))

    nearest = min(others, key=distance)
    return (
        f"under other conditions ({condition_words(nearest.condition)}: {_inverse(nearest).text})",
        nearest.cells,
    )


def _pairs(judge: Judge, quantity: str) -> Sequence[Pair]:
    return [pair for pair in pairs_of(LAUNCH, judge) if pair.quantity == quantity]


def _with_heaps(judge: Judge, wanted: dict[str, str], quantity: str) -> Sequence[tuple[int, Pair]]:
    """Pairs under the claim's own condition but for the heap, none or written once, rising with it."""
    bare = {name: value for name, value in wanted.items() if name not in _HEAP}
    scan = {}
    for pair in _pairs(judge, quantity):
        heap = {name: value for name, value in pair.condition.items() if name in _HEAP}
        if heap.get("pages", "clean") == "clean" and {**bare, **heap} == dict(pair.condition):
            scan[parse_bytes(heap.get("parent_bytes", "0"))] = pair
    return sorted(scan.items())


def _about(size: float) -> str:
    """An amount of memory to two digits, since it was not measured but lies between two that were."""
    unit = 1 << 20 if size >= 1 << 20 else 1 << 10
    return f"{float(f'{size / unit:.2g}'):g} {'MiB' if unit == 1 << 20 else 'KiB'}"


def _heap(size: int) -> str:
    return approximate_bytes(size) if size else "none"


def _inverse(pair: Pair) -> Change[str]:
    """A process over a thread: the claim's ratio."""
    return pair.change.reversed


def _where(given: str | None, judge: Judge, published: float, quantity: str) -> str:
    """Say which condition gives the number, or what those that were measured give."""
    if given is not None:
        return (
            f"This machine gives {published:g} times {given}. That holds on this machine, and does not explain the "
            f"study's number."
        )
    ratios = sorted((_inverse(pair) for pair in _pairs(judge, quantity)), key=lambda ratio: ratio.value or 0.0)
    if not ratios:
        return f"No other condition was measured that could give {published:g} times."
    least, most = ratios[0].text, ratios[-1].text
    return f"None of {len(ratios)} conditions gives {published:g} times here: they give {least} to {most}."
