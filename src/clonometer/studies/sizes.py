"""The number that a claim gives, beside ours; where they differ, the memory with which this machine gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clonometer.studies.cells import axes_of, condition_words, parent_bytes
from clonometer.studies.judge import Judge
from clonometer.studies.pairings import LAUNCH, pairs_of
from clonometer.studies.published import load_published
from clonometer.studies.thresholds import QUARTER
from clonometer.studies.types import Pair, Size, Verdict
from clonometer.studies.verdicts import JudgedPart
from clonometer.units import approximate_bytes, format_ratio, parse_bytes
from clonometer.verdicts import Status

_HEAP = ("parent_bytes", "pages")
#: A line is drawn through so many sizes, and followed to so many times the largest of them.
_LEAST_SIZES, _FARTHEST = 3, 8


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
    size = part.value.over(published)
    agrees = judge.judged("", size, "alike", QUARTER, ()).outcome
    given, answer, cells = None, "", tuple[str, ...]()
    if agrees != Status.HOLDS and thread:
        given, answer, cells = _given(judge, published, part, thread, quantity)
    in_direction = direction.status == Status.HOLDS and agrees != Status.HOLDS
    status = Status.HOLDS_IN_DIRECTION if in_direction else direction.status
    return replace(
        direction,
        status=status,
        reason=" ".join(filter(None, [_sentence(status, part, published, agrees), direction.reason, answer])),
        size=Size(published, *size.ends, agrees, given, answer),
        evidence=tuple(dict.fromkeys([*direction.evidence, *cells])),
    )


def _sentence(status: Status, part: JudgedPart, published: float, agrees: Status) -> str:
    lead = "Holds in direction: " if status == Status.HOLDS_IN_DIRECTION else ""
    tail = {Status.HOLDS: f", as in the study ({published:g})", Status.FAILS: f", not {published:g}"}.get(
        agrees, f"; whether that is the study's {published:g} is open"
    )
    return f"{lead}{format_ratio(*part.value.ends)}{tail}."


_Given = tuple[str | None, str, tuple[str, ...]]


def _given(judge: Judge, published: float, part: JudgedPart, thread: str, quantity: str) -> _Given:
    """What gives the number here, the same as an answer, and the cells that it rests on.

    First the memory is solved for; then all conditions that were measured are looked through.
    """
    wanted = axes_of(thread)[1]
    heaps = _with_heaps(judge, wanted, quantity)
    if len(heaps) >= _LEAST_SIZES:
        memory = parent_bytes(thread)
        ratio_words = f"{format_ratio(*part.value.ends).partition(' ')[0]} times"
        ours = f"{ratio_words} {f'with {approximate_bytes(memory)}' if memory else 'without'}"
        return _solved(judge, published, ours, heaps, quantity)
    others = [pair for pair in _pairs(judge, quantity) if _is_as_published(judge, pair, published)]
    if not others:
        return None, _none_gives(judge, published, quantity), ()

    def distance(pair: Pair) -> int:
        return len(set(pair.condition.items()) ^ set(wanted.items()))

    nearest = min(others, key=distance)
    given = f"under other conditions ({condition_words(nearest.condition)}: {nearest.change.reversed.text})"
    return given, f"Here it is {published:g} times {given}.", nearest.cells


def _solved(judge: Judge, published: float, ours: str, heaps: Sequence[tuple[int, Pair]], quantity: str) -> _Given:
    """The memory with which a process takes so many times as long as a thread.

    A thread costs the same whatever the memory, a process so much a page: that is a line, through medians that are
    weighted by their size. ``ours`` says the claim's own number, and its memory.
    """
    sizes = np.array([size for size, _ in heaps], dtype=np.float64)
    threads, processes = (
        np.array([np.median(judge.find(pair.cells[side], quantity).processes.values) for _, pair in heaps])
        for side in (0, 1)
    )
    per_byte, bare = np.polyfit(sizes, processes, 1, w=1 / processes)
    wanted = published * float(np.median(threads))
    cells = tuple(cell for _, pair in heaps for cell in pair.cells)
    if wanted <= bare:
        return None, f"It is more than {published:g} times here even without memory: {ours}.", cells
    size, largest = (wanted - bare) / per_byte, float(sizes[-1])
    if per_byte <= 0 or size > _FARTHEST * largest:
        most = f"{float((processes / threads).max()):.2g} times"
        most_memory = approximate_bytes(int(largest))
        return None, f"{published:g} times is out of reach here: {ours}, at most {most} up to {most_memory}.", cells
    beyond = "" if size <= largest else f", by a line through sizes up to {approximate_bytes(int(largest))}"
    given = f"when the parent has touched about {_about(float(size))}"
    return given, f"Here it is {published:g} times {given}{beyond}; {ours}.", cells


def _is_as_published(judge: Judge, pair: Pair, published: float) -> bool:
    thread, process = (judge.find(cell, pair.quantity) for cell in pair.cells)
    ratio = judge.ratio(process, thread).over(published)
    return judge.judged("", ratio, "alike", QUARTER, ()).outcome == Status.HOLDS


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


def _none_gives(judge: Judge, published: float, quantity: str) -> str:
    """What the conditions that were measured give instead."""
    ratios = sorted((pair.change.reversed for pair in _pairs(judge, quantity)), key=lambda ratio: ratio.value or 0.0)
    if not ratios:
        return f"No other condition was measured that could give {published:g} times."
    least, most = ratios[0].text, ratios[-1].text
    if len(ratios) == 1:
        return f"No condition that was measured gives {published:g} times here."
    return f"None of {len(ratios)} conditions gives {published:g} times here: they give {least} to {most}."
