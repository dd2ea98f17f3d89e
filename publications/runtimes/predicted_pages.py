"""The part of docs/runtimes.md that has what `clonometer predict` foretells, beside what launches cost their caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from publications.runtimes.foretold import LAUNCHES, STARTS
from publications.runtimes.languages import LANGUAGES, Language
from publications.runtimes.text import wrapped

from clonometer.launch_paths.reading import load_book
from clonometer.units import approximate_bytes, format_duration

#: A prediction that is further from the median has missed.
WITHIN = 0.2
PREFIX = "predict-"


def predicted(measured: Mapping[str, Any]) -> Iterator[str]:
    """The table, for the languages that were judged."""
    parts = [(each, measured[PREFIX + each.name]) for each in LANGUAGES if PREFIX + each.name in measured]
    if not parts:
        return
    yield "## What predict says of these heaps\n"
    yield wrapped(
        "`clonometer predict --pid` reads a process, and says for each API of its runtime what the caller waits for. "
        "Here it does so for the programs above, which then launch, with their heap written and caches emptied before "
        f"each. Measured are medians of {STARTS} processes, with {LAUNCHES} launches each, until the call has "
        "returned. The ratio is the middle one of the processes. Programs, reference scan and calibration "
        "(`chrt --rr 1 clonometer calibrate`) ran in the class rr. Others' time is therefore in neither figure. "
        "`make bench BENCH=heaps` does this again."
    )
    lines = [
        "| launch | heap | foretold (90%) | of it the runtime's own | measured | ratio |\n"
        "|---|---|---:|---:|---:|---:|\n"
    ]
    for language, part in parts:
        lines += _rows(language, part)
    yield "".join(lines)
    rows = [{**row, "title": _title(each, part, row)} for each, part in parts for row in part["rows"]]
    missed = [row for row in rows if abs(row["ratio"] - 1) > WITHIN]
    inside = sum(row["inside"] for row in rows) / len(rows)
    yield wrapped(
        f"Of {len(rows)} predictions {len(rows) - len(missed)} are within {WITHIN:.0%} of what was measured; "
        f"{inside:.0%} of the launches lie in their interval."
    )
    if missed:
        names = ", ".join(
            f"{row['title']} with {approximate_bytes(row['size'])} ({row['ratio']:.2f})" for row in missed
        )
        yield wrapped(f"Beyond that: {names}.")
    yield wrapped(
        "What the model lacks is the CPU on which the child of a `posix_spawn` or vfork runs. On another CPU than its "
        "parent's the call takes 160 (140 to 190) µs here. On the same it takes 463 (462 to 470) µs, since the program "
        "then runs before the parent does. The calibration has some of both. A copied heap outweighs that."
    )
    yield wrapped(
        "The runtime's own work is what it does beside the kernel's call: its code, pipes, signals, pages that parent "
        "and child write before the exec, and for Java the helper that is executed first. It was measured with "
        "processes without a heap (`own.json` of the launch paths). The kernel's part is that of the process that is "
        "read."
    )
    versions = ", ".join(f"{language.title} {part['version']} (load {part['load']})" for language, part in parts)
    _, latest = max(parts, key=lambda each: each[1]["date"])
    yield wrapped(f"{latest['machine']}, Linux {latest['kernel']}, {latest['date']}; {versions}.")


def _title(language: Language, part: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    way = next(way for way in language.ways if way.key == row["way"])
    lines = {line.name: line for line in load_book().runtime(language.name).of_version(part["version"])}
    return f"{language.title}: {way.title or lines[way.line].title}"


def _rows(language: Language, part: Mapping[str, Any]) -> Iterator[str]:
    ways = {way.key: way for way in language.ways}
    for row in part["rows"]:
        way = ways[row["way"]]
        low, median, high = (format_duration(row["predicted"][end]) for end in ("low", "median", "high"))
        cells: Sequence[str] = (
            _title(language, part, row),
            f"{approximate_bytes(row['size'])}, {way.heap or 'objects'}",
            f"{median} ({low} to {high})",
            format_duration(row["own_ns"]),
            format_duration(row["measured_ns"]),
            f"{row['ratio']:.2f}",
        )
        yield f"| {' | '.join(cells)} |\n"
