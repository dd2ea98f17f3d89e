"""Writes docs/runtimes.md from what was measured and from the book of launch paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from publications.runtimes.languages import LANGUAGES, SIZES, Language, Way
from publications.runtimes.predicted_pages import predicted
from publications.runtimes.published_pages import published
from publications.runtimes.quiet import QUIET
from publications.runtimes.text import place, wrapped

from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import LaunchPath, RuntimeBook
from clonometer.units import format_duration

#: From this share of the heap on, the page says that a fork leaves it out.
_LEFT_OUT = 0.5
_NOTE = "<!-- Written by make runtimes-doc from publications/runtimes/measured.json: do not edit it here. -->\n\n"

_HEAPS = {0: "no heap", 100_000_000: "100 MB", 1_000_000_000: "1 GB", 4_000_000_000: "4 GB"}
_KINDS = {"written": "all", "untouched": "nothing"}


def page(measured: Mapping[str, Any]) -> str:
    """The page of all languages and published shapes that were measured."""
    book = load_book()
    parts = [_NOTE + "# Runtimes and their heaps\n", _introduction()]
    for language in LANGUAGES:
        if language.name in measured:
            parts += _language(language, measured[language.name], book.runtime(language.name))
    parts += predicted(measured)
    parts += published(measured)
    return "\n".join(parts)


def _introduction() -> str:
    return "\n".join(
        (
            wrapped(
                "What a command costs each language, by the memory that the program holds. A call that forks copies "
                "the map of that memory (`copies`); the others do not. `make runtimes-doc` measures all of this again."
            ),
            wrapped(
                "Each program holds objects of 1 KiB, and starts `/bin/true` alone, one at a time, on any CPU. Before "
                "a launch it writes to every page of its heap, or to nothing. A fork protects each page that was "
                "written; pages that nobody wrote since the last fork are still protected, so a later fork can be "
                "faster. A benchmark that writes its heap once shows only that."
            ),
            wrapped(
                "Each cell has the median of the rounds' medians, until the program has ended, and in brackets the "
                "fastest launch. A round starts the program anew; within it the ways launch in turn. Once its heap is "
                "made, a program runs in the class rr where that is allowed: others' programs then take none of its "
                f"time, but still use caches and memory. A round is quiet if they used at most {QUIET:.0%} of the "
                "CPUs' time. Where a size has quiet rounds, its figures are of those alone."
            ),
            wrapped(
                "Does the class change the figures? Python and Rust ran in both classes beside a load of 15, with no "
                "heap and 1 GB. The fastest launches of the usual class took 0.87 to 1.11 times as long as those in "
                "rr. Its medians took up to 2.8 times as long: that is the others' time."
            ),
        )
    )


def _language(language: Language, result: Mapping[str, Any], book: RuntimeBook) -> Iterator[str]:
    yield f"## {language.title}\n"
    yield wrapped(f"{language.title} {result['version']}; {place(result)} {_rounds(result)}")
    head = " | ".join(_HEAPS[size] for size in SIZES)
    lines = [
        f"| launch | written | {head} |\n",
        "|---|---|" + "---:|" * len(SIZES) + "\n",
    ]
    ways = {way.key: way for way in language.ways}
    for row in result["rows"]:
        lines += _rows(language, ways[row["way"]], row["heaps"], _line(book, ways[row["way"]], result["version"]))
    yield "".join(lines)
    yield wrapped(f"**What to watch.** {language.watch}")
    for heap in result["rows"][0]["heaps"]:
        if "reason" in heap:
            yield wrapped(f"A heap of {_HEAPS[heap['size']]} was not made: {heap['reason']}.")
    yield from _left_out(result)
    instead = [
        line for way in language.ways if not way.title and (line := _line(book, way, result["version"])) and line.copies
    ]
    for line in dict.fromkeys(line for line in instead if line.instead):
        yield wrapped(f"**Instead of {line.title}**: {line.instead}. You lose: {line.lose}.")


def _line(book: RuntimeBook, way: Way, version: str) -> LaunchPath | None:
    return next((path for path in book.of_version(version) if path.name == way.line), None)


def _rows(language: Language, way: Way, heaps: list[Mapping[str, Any]], line: LaunchPath | None) -> Iterator[str]:
    title = way.title or (line.title if line else way.word)
    copies = " (copies)" if line and line.copies and not way.title else ""
    kinds = {each.heap.partition(",")[0] for each in language.ways}
    heap = f"; {way.heap}" if len(kinds) > 1 else ""
    quantity = "call_ns" if language.by_call else "end_ns"
    for kind, written in _KINDS.items():
        cells = [_cell(heap[kind][quantity]) if kind in heap else "-" for heap in heaps]
        yield f"| {title}{heap}{copies} | {written} | {' | '.join(cells)} |\n"


def _cell(times: Mapping[str, float]) -> str:
    return f"{format_duration(times['median'])} ({format_duration(times['least'])})"


def _rounds(result: Mapping[str, Any]) -> str:
    """How often it was measured, and how quiet that was."""
    heaps = [heap for row in result["rows"] for heap in row["heaps"] if "rounds" in heap]
    quiet = sum(heap["quiet"] for heap in heaps) / max(1, sum(heap["rounds"] for heap in heaps))
    least = {0.0: "none quiet", 1.0: "all quiet"}.get(quiet, f"{quiet:.0%} quiet")
    rounds = "one round" if result["rounds"] == 1 else f"{result['rounds']} rounds"
    return f"{rounds.capitalize()} in the class {result['scheduling']}, {least}."


def _left_out(result: Mapping[str, Any]) -> Iterator[str]:
    """Which heaps a fork leaves out, as seen in /proc/PID/smaps."""
    shares = {}
    for row in result["rows"]:
        largest = next((heap for heap in reversed(row["heaps"]) if "resident" in heap), None)
        if largest and largest["left_out"] > _LEFT_OUT * largest["resident"]:
            shares[row["way"].partition(", ")[2] or "objects"] = largest["left_out"] / largest["resident"]
    for heap, share in shares.items():
        yield wrapped(
            f"With a heap of {heap}, {share:.0%} of the resident memory is marked to be left out of forks "
            "(`MADV_DONTFORK`, `dc` in `/proc/PID/smaps`). A fork therefore copies little of it. Memory outside "
            "that heap is copied, which a benchmark with such objects alone does not show."
        )
