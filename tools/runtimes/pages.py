"""Writes docs/runtimes.md from what was measured and from the book of launch paths."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from tools.runtimes.languages import LANGUAGES, SIZES, Language, Way

from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import LaunchPath, RuntimeBook
from clonometer.units import format_duration

_WIDTH = 128
#: From this share of the heap on, the page says that a fork leaves it out.
_LEFT_OUT = 0.5
_NOTE = "<!-- Written by make runtimes-doc from tools/runtimes/measured.json: do not edit it here. -->\n\n"
_HEAPS = {0: "no heap", 100_000_000: "100 MB", 1_000_000_000: "1 GB"}
_KINDS = {"written": "all", "untouched": "nothing"}
#: Kobzol 2024, seconds of 10,000 spawns: its repository's data, medians of three; the pages' own figures beside.
_KOBZOL = {("command", 1): "0.62 s (laptop)", ("command", 5): "0.69 s (laptop)"} | {
    ("pre_exec", 1): "11.3 s (cluster)",
    ("pre_exec", 5): "41.8 s (cluster)",
}
_MAXMCD = {"Node.js": ("651", "22.3.0"), "Deno": ("2,290", "1.44.2"), "Bun": ("2,208", "1.1.20")} | {
    "Go": ("5,227", "1.22.2"),
    "Rust": ("5,466", "1.77.2"),
}


def page(measured: Mapping[str, Any]) -> str:
    """The page of all languages and published shapes that were measured."""
    book = load_book()
    parts = [_NOTE + "# Runtimes and their heaps\n", _introduction()]
    for language in LANGUAGES:
        if language.name in measured:
            parts += _language(language, measured[language.name], book.runtime(language.name))
    if {"spawns", "servers"} & set(measured):
        parts += _published(measured)
    return "\n".join(parts)


def _introduction() -> str:
    return "\n".join(
        (
            _wrapped(
                "What a command costs each language, by the memory that the program holds. A call that forks copies "
                "the map of that memory; the others do not. `make runtimes-doc` measures all of this again."
            ),
            _wrapped(
                "Each program holds objects of 1 KiB, and starts `/bin/true` alone, one at a time, on any CPU. Before "
                "a launch it writes to every page of its heap, or to nothing. A fork protects each page that was "
                "written; pages that nobody wrote since the last fork are still protected, so a later fork can be "
                "faster. A benchmark that writes its heap once shows only that."
            ),
            _wrapped(
                "Figures are the fastest of the launches, until the program has ended: other programs used the CPUs "
                "meanwhile. The data file has medians and memory too. A heap of 4 GB is not measured yet."
            ),
        )
    )


def _language(language: Language, result: Mapping[str, Any], book: RuntimeBook) -> Iterator[str]:
    yield f"## {language.title}\n"
    yield _wrapped(f"{language.title} {result['version']}; {_place(result)}")
    head = " | ".join(_HEAPS[size] for size in SIZES)
    lines = [
        f"| launch | heap | copies | written before | {head} |\n",
        "|---|---|---|---|" + "---:|" * len(SIZES) + "\n",
    ]
    ways = {way.key: way for way in language.ways}
    for row in result["rows"]:
        lines += _rows(language, ways[row["way"]], row["heaps"], _line(book, ways[row["way"]], result["version"]))
    yield "".join(lines)
    yield _wrapped(f"**What to watch.** {language.watch}")
    yield from _left_out(result)
    instead = [
        line
        for way in language.ways
        if not way.copies and (line := _line(book, way, result["version"])) and line.copies
    ]
    for line in dict.fromkeys(line for line in instead if line.instead):
        yield _wrapped(f"**Instead of {line.title}**: {line.instead}. You lose: {line.lose}.")


def _line(book: RuntimeBook, way: Way, version: str) -> LaunchPath | None:
    return next((path for path in book.of_version(version) if path.name == way.line), None)


def _rows(language: Language, way: Way, heaps: list[Mapping[str, Any]], line: LaunchPath | None) -> Iterator[str]:
    title = way.title or (line.title if line else way.word)
    copies = way.copies or ("not known" if line is None else "yes" if line.copies else "no")
    quantity = "call_ns" if language.by_call else "end_ns"
    for kind, written in _KINDS.items():
        cells = [format_duration(heap[kind][quantity]["least"]) if kind in heap else "-" for heap in heaps]
        yield f"| {title} | {way.heap or 'objects'} | {copies} | {written} | {' | '.join(cells)} |\n"


def _left_out(result: Mapping[str, Any]) -> Iterator[str]:
    """Which heaps a fork leaves out, as seen in /proc/PID/smaps."""
    for row in result["rows"]:
        largest = next((heap for heap in reversed(row["heaps"]) if "resident" in heap), None)
        if largest and largest["left_out"] > _LEFT_OUT * largest["resident"]:
            share = largest["left_out"] / largest["resident"]
            yield _wrapped(
                f"With {row['way']}, {share:.0%} of the resident memory is marked to be left out of forks "
                "(`MADV_DONTFORK`, `dc` in `/proc/PID/smaps`). A fork therefore copies little of it. Memory outside "
                "that heap is copied, which a benchmark with such objects alone does not show."
            )


def _place(result: Mapping[str, Any]) -> str:
    busy = f"load {result['load']} on {result['cpus']} CPUs"
    return f"{result['machine']}, Linux {result['kernel']}, {result['date']}, {busy}."


def _published(measured: Mapping[str, Any]) -> Iterator[str]:
    yield "## Published comparisons\n"
    if "spawns" in measured:
        yield from _spawns(measured["spawns"])
    if "servers" in measured:
        yield from _servers(measured["servers"])
    yield "### megafine 2026\n"
    yield _wrapped(
        "megafine 0.1 (github.com/rbeneyton/megafine) is a tool for benchmarks of commands. Its README has no figures "
        "of launches. It starts commands by `posix_spawn`, and refuses those that end sooner than its own floor, "
        "`/bin/true`. The rows above whose calls do not copy are that floor in each language."
    )


def _spawns(result: Mapping[str, Any]) -> Iterator[str]:
    yield "### Kobzol 2024: 10,000 spawns in Rust\n"
    yield _wrapped(f"Rust {result['version']}; {_place(result)}")
    lines = [
        "| launch | resident | variables | spawned here | 10,000 take here | published |\n|---|---|---|---:|---:|---|\n"
    ]
    words = {"command": "plain", "set": "one variable set", "pre_exec": "pre_exec (fork)"}
    for row in result["rows"]:
        time = "-" if row["of_10000_ns"] is None else format_duration(row["of_10000_ns"])
        gib = f"{row['gib']} GiB" if row["gib"] else "little"
        published = "-" if row["variables"] else _KOBZOL.get((row["way"], row["gib"]), "-")
        lines.append(
            f"| {words[row['way']]} | {gib} | {row['variables']} | {row['count']:,} | {time} | {published} |\n"
        )
    yield "".join(lines)
    ratios = _ratios(result["rows"])
    yield _wrapped(
        "Published: kobzol.github.io, January 2024; data of github.com/Kobzol/rust-cmd-spawn-bench, medians of three. "
        "The article is quoted with 5 s at 1 GiB and 25 s at 5 GiB; the data file for the cluster has the larger "
        "figures above."
    )
    yield _wrapped(
        "What differs: the cluster's C library was so old that Rust forked for every command. Here only `pre_exec` "
        "does. Fewer are spawned here and the time is scaled to 10,000; memory is written once, before the first. The "
        "program is `sleep 0`, and none is waited for until all have been started."
    )
    yield _wrapped(
        "A fork of 1 GiB takes 1.1 ms there. That would fit huge pages, of which a fork copies fewer entries. Whether "
        "the cluster had them is not known; these programs do not ask for any. One round was measured here, so "
        "differences of a tenth may be noise."
    )
    yield _wrapped(f"From 50 to 250 variables the article has 50% more. Here: {ratios}.")


def _ratios(rows: list[Mapping[str, Any]]) -> str:
    times = {(row["way"], row["variables"]): row["of_10000_ns"] for row in rows if row["variables"]}
    return ", ".join(
        f"{times[way, 250] / times[way, 50] - 1:+.0%} {words}"
        for way, words in (("command", "as they are inherited"), ("set", "with one variable set for the command"))
    )


def _servers(result: Mapping[str, Any]) -> Iterator[str]:
    yield "### maxmcd 2024: a server that starts a process for each request\n"
    yield _wrapped(_place(result))
    rows = {row["server"]: row for row in result["rows"]}
    lines = ["| server | requests a second here | version | published | version |\n|---|---:|---|---:|---|\n"]
    for name, (rate, version) in _MAXMCD.items():
        row = rows.get(name)
        ours = (f"{row['rate']:,.0f}", row["version"]) if row else ("not measured", "-")
        lines.append(f"| {name} | {ours[0]} | {ours[1]} | {rate} | {version} |\n")
    yield "".join(lines)
    if len(rows) == len({"Node.js", "Go"}):
        yield _wrapped(
            f"Go answers {rows['Go']['rate'] / rows['Node.js']['rate']:.1f} times as many requests as Node.js here; "
            "published are 8.0 times. Node.js launches on one CPU, and Go on all of them."
        )
    yield _wrapped(
        "Published: maxmcd.com, process-per-request-performance. What differs: 8 virtual CPUs there, with the client "
        "(bombardier) on the same machine; 30 connections and 10,000 requests. Here the client is a program in Go "
        "with 30 connections and 1,500 requests, on the same CPUs. Deno and Bun are not measured, nor is Rust: its "
        "server needs tokio, which is not of the standard library."
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False) + "\n"
