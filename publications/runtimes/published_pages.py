"""The part of docs/runtimes.md that has published comparisons: their figures beside those of here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from publications.runtimes.text import place, wrapped

from clonometer.units import approximate_bytes, format_duration

#: Kobzol 2024, seconds of 10,000 spawns: its repository's data, medians of three; the pages' own figures beside.
_CLUSTER_S = {1: 11.3, 5: 41.8}
_KOBZOL = {("command", 1): "0.62 s (laptop)", ("command", 5): "0.69 s (laptop)"} | {
    ("pre_exec", gib): f"{seconds:g} s (cluster)" for gib, seconds in _CLUSTER_S.items()
}
#: Beside whose figures the program with huge pages stands.
_FORKS = {"huge": "pre_exec"}
_MAXMCD = {"Node.js": ("651", "22.3.0"), "Deno": ("2,290", "1.44.2"), "Bun": ("2,208", "1.1.20")} | {
    "Go": ("5,227", "1.22.2"),
    "Rust": ("5,466", "1.77.2"),
}


def published(measured: Mapping[str, Any]) -> Iterator[str]:
    """The comparisons of which the shapes were measured here."""
    parts = (("spawns", _spawns), ("servers", _servers), ("floors", _floors))
    if any(name in measured for name, _ in parts):
        yield "## Published comparisons\n"
    for name, part in parts:
        if name in measured:
            yield from part(measured[name])


def _rounds(result: Mapping[str, Any]) -> str:
    rounds = "One round" if result["rounds"] == 1 else f"Medians of {result['rounds']} rounds"
    others = f"others used {result['others']:.0%} of the CPUs' time meanwhile"
    return f"{rounds} in the class {result['scheduling']}; {others}."


def _spawns(result: Mapping[str, Any]) -> Iterator[str]:
    yield "### Kobzol 2024: 10,000 spawns in Rust\n"
    yield wrapped(f"Rust {result['version']}; {place(result)} {_rounds(result)}")
    lines = [
        "| launch | resident | variables | spawned a round | 10,000 take here | least | published |\n"
        "|---|---|---|---:|---:|---:|---|\n"
    ]
    words = {
        "command": "plain",
        "set": "one variable set",
        "pre_exec": "pre_exec (fork)",
        "huge": "pre_exec (fork), huge pages",
    }
    for row in result["rows"]:
        times = [format_duration(row[key]) if key in row else "-" for key in ("of_10000_ns", "least_ns")]
        gib = f"{row['gib']} GiB" if row["gib"] else "little"
        figure = "-" if row["variables"] else _KOBZOL.get((_FORKS.get(row["way"], row["way"]), row["gib"]), "-")
        cells = [words[row["way"]], gib, str(row["variables"]), f"{row['count']:,}", *times, figure]
        lines.append(f"| {' | '.join(cells)} |\n")
    yield "".join(lines)
    yield wrapped(
        "Published: kobzol.github.io, January 2024; data of github.com/Kobzol/rust-cmd-spawn-bench, medians of three. "
        "The article is quoted with 5 s at 1 GiB and 25 s at 5 GiB; the data file for the cluster has the larger "
        "figures above."
    )
    yield wrapped(
        "What differs: the cluster's C library was so old that Rust forked for every command. Here only `pre_exec` "
        "does. Where fewer than 10,000 are spawned the time is that of 10,000 in proportion; the row says how many. "
        "Memory is written once, before the first. The program is `sleep 0`, and none is waited for until all have "
        "been started."
    )
    yield wrapped(
        "A fork of 1 GiB takes 1.1 ms there. That fits huge pages, of which a fork copies fewer entries; whether the "
        "cluster had them is not said. Here the rows with huge pages ask for them (`MADV_HUGEPAGE`), the others do "
        f"not. {_of_published(result['rows'])}"
    )
    if ratios := _ratios(result["rows"]):
        yield wrapped(f"From 50 to 250 variables the article has 50% more. Here: {ratios}.")


def _of_published(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many times as long as published forks take here, with and without huge pages."""
    words = []
    for way in ("huge", "pre_exec"):
        times = [row["of_10000_ns"] / 1e9 / _CLUSTER_S[row["gib"]] for row in rows if row["way"] == way]
        words.append(" and ".join(f"{each:.3g}" for each in times))
    return f"Forks with them take {words[0]} times as long as published, those without {words[1]} times."


def _ratios(rows: Sequence[Mapping[str, Any]]) -> str:
    times = {(row["way"], row["variables"]): row["of_10000_ns"] for row in rows if row["variables"]}
    return ", ".join(
        f"{times[way, 250] / times[way, 50] - 1:+.0%} {words}"
        for way, words in (("command", "as they are inherited"), ("set", "with one variable set for the command"))
    )


def _servers(result: Mapping[str, Any]) -> Iterator[str]:
    yield "### maxmcd 2024: a server that starts a process for each request\n"
    yield wrapped(f"{place(result)} {_rounds(result)}")
    rows = {row["server"]: row for row in result["rows"]}
    lines = [
        "| server | requests a second here | most | version | published | version |\n|---|---:|---:|---|---:|---|\n"
    ]
    for name, (rate, version) in _MAXMCD.items():
        row = rows.get(name)
        ours = (f"{row['rate']:,.0f}", f"{row['most']:,.0f}", row["version"]) if row else ("not installed", "-", "-")
        lines.append(f"| {name} | {' | '.join(ours)} | {rate} | {version} |\n")
    yield "".join(lines)
    if {"Go", "Node.js"} <= set(rows):
        yield wrapped(
            f"Go answers {rows['Go']['rate'] / rows['Node.js']['rate']:.1f} times as many requests as Node.js here; "
            "published are 8.0 times. Node.js launches on one CPU, and Go on all of them."
        )
    yield wrapped(
        "Published: maxmcd.com, process-per-request-performance. What differs: 8 virtual CPUs there, with the client "
        "(bombardier) on the same machine; 30 connections and 10,000 requests. Here the client is a program in Go "
        "with 30 connections and 1,500 requests, on the same CPUs. Rust's server there uses tokio. Ours has a thread "
        "for each connection, with the standard library alone. Node.js, Deno and Bun run one program."
    )


def _floors(result: Mapping[str, Any]) -> Iterator[str]:
    yield "### megafine 2026: the floor of a benchmark tool\n"
    yield wrapped(
        "megafine 0.2 (github.com/rbeneyton/megafine) runs commands by workers on a CPU each. It starts them by "
        "`posix_spawn`, and refuses those that end sooner than its own floor, the mean of `/bin/true`. Its README has "
        "no figure of that floor. It says that the largest memory (`Peak`, ru_maxrss) of a child contains megafine's "
        "own 4 to 5 MiB. Two workers show `sleep 0.15` taking 1.500 times as long as `sleep 0.1`."
    )
    yield wrapped(f"Rust {result['version']}; {place(result)} {_rounds(result)}")
    lines = [
        "| command | workers | launcher holds | launches each | mean | least mean | largest memory of the child |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n"
    ]
    for row in result["rows"]:
        mean, least = format_duration(row["mean_ns"]), format_duration(row["least_ns"])
        peak, kept = approximate_bytes(row["peak"]), approximate_bytes(row["bytes"]) if row["bytes"] else "little"
        lines.append(
            f"| `{row['command']}` | {row['workers']} | {kept} | {row['launches']} | {mean} | {least} | {peak} |\n"
        )
    yield "".join(lines)
    times = {(row["command"], row["workers"]): row["mean_ns"] for row in result["rows"]}
    ours = times["sleep 0.15", 2] / times["sleep 0.1", 2]
    its = f"; megafine {result['megafine']} itself says {result['ratio']:.3f} here" if "ratio" in result else ""
    yield wrapped(
        f"The longer sleep takes {ours:.3f} times as long here{its}: the floor is in both. The kernel's figure for a "
        "child is at least the memory of its launcher, whose map it has until exec. A tool with a heap of 1 GB "
        "therefore reports 1 GB for `/bin/true`, launched by `posix_spawn` or by fork."
    )
