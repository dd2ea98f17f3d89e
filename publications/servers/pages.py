"""Writes docs/servers.md from what was measured."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from publications.servers.case import ServerCase
from publications.servers.foretelling import NEAR, Foretold, foretold, words_of
from publications.servers.profiling import PARTS, USER

from clonometer.advice.basis import AdviceBasis
from clonometer.advice.costs import FAULTS
from clonometer.units import format_duration
from clonometer.words import counted

_WIDTH, _S, _SMALL = 128, 1e9, 0.1
_NOTE = "<!-- Written by make servers-doc from publications/servers/measured.json: do not edit it here. -->\n\n"
_MADE = {"thread": "threads", "fork": "children by fork"}


@dataclass(frozen=True)
class Compared:
    """A server with what was measured and foretold."""

    case: ServerCase
    result: Mapping[str, Any]
    foretold: Sequence[Foretold]


def page(cases: Sequence[ServerCase], results: Mapping[str, Mapping[str, Any]], basis: AdviceBasis) -> str:
    """The page of all servers that were measured."""
    listed = [
        Compared(case, results[case.name], foretold(case, results[case.name], basis))
        for case in cases
        if case.name in results
    ]
    parts = [_NOTE + "# Servers as processes, threads and pools\n", *_introduction(listed)]
    for each in listed:
        parts += _case(each)
    return "\n".join(parts)


def _introduction(listed: Sequence[Compared]) -> Iterator[str]:
    yield _wrapped(
        f"{counted(len(listed), 'server')} of other people, each in two or three designs under a load generator: what "
        "a request costs, and what Clonometer foretells of that. `make servers-doc` measures all of this again, as far "
        "as the servers are installed; a server is a file in `publications/servers/data`."
    )
    yield _wrapped(
        "CPU time is that of all tasks of the server, those that have ended included, divided by the requests. The "
        "sides are started anew in turn, in random order, five times. Figures are medians; brackets have the range "
        "of the rounds. The load generators (wrk, pgbench, redis-benchmark) keep a set number of clients busy: each "
        "sends the next request when it has its answer. So latencies belong to that number of clients, and a stall "
        "delays requests that are then not sent. Generator and server share the CPUs."
    )
    yield "## What was foretold\n"
    yield _wrapped(
        "A ratio is the CPU time a request of the other side, divided by that of the first. It rests on the "
        "first side alone: the other one is not run for it. The first side's CPU time a request is measured."
    )
    yield _wrapped(
        "- *By design*: what a request costs both designs in small servers in C (`serve.*`). The first one's is taken "
        "off, the other's is added. This knows nothing of the server's own children."
    )
    yield _wrapped(
        "- *By its terms*: as `clonometer advise` prices it. What a request does itself is known from the first side: "
        "what one more costs on a connection that stays. Where the server can only do one, nothing of "
        "that is known, and the ratio is a least one (≥). The other design costs what it costs a small server, with "
        "what its language takes more. Where the first side launches nothing for a request, the two columns "
        "differ by the language alone. Brackets have the interval."
    )
    yield (
        "| server | other side against first | measured | by design | by its terms | |\n"
        "|---|---|---:|---:|---:|---|\n" + "".join(_rows(listed))
    )
    yield _verdict(listed)
    yield from _terms()


def _rows(listed: Sequence[Compared]) -> Iterator[str]:
    for server in listed:
        title = f"[{server.case.title}](#{server.case.name})"
        for each in server.foretold:
            stated = "-" if each.by_stated is None else _ratio(each.by_stated)
            yield (
                f"| {title} | {each.side} against {each.base} | {_span(each.measured)} "
                f"| {stated} | {_by_terms(each)} | {each.verdict} |\n"
            )


def _by_terms(each: Foretold) -> str:
    if each.ratio is None:
        return "-"
    least = "≥ " if each.work_is_least else ""
    if each.span is None:
        return f"{least}{_ratio(each.ratio)}"
    return f"{least}{_ratio(each.ratio)} ({_ratio(max(each.span.low, 0.0))} to {_ratio(each.span.high)})"


def _span(values: Sequence[float]) -> str:
    value, low, high = values
    return f"{_ratio(value)} ({_ratio(low)} to {_ratio(high)})"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= _SMALL else f"{value:.3f}"


def _verdict(listed: Sequence[Compared]) -> str:
    every = [each for server in listed for each in server.foretold]
    ratios_foretold = [each for each in every if each.ratio is not None]
    signs = sum(each.is_sign_right for each in ratios_foretold)
    near = sum(each.is_near for each in ratios_foretold)
    saved = sum(each.is_near or each.is_saving_near for each in ratios_foretold)
    return _wrapped(
        f"{counted(len(ratios_foretold), 'comparison')} were foretold: the sign is right in {signs}, and the ratio "
        f"within {NEAR:.0%} in {near}. In {saved} the ratio or the saving is: how much less the other side uses, which "
        "matters where it uses a small part. A sign is right as well where both say that the sides differ by less than "
        "a tenth. Where the rounds contradict each other it is right if the ratio lies among theirs."
    )


def _terms() -> Iterator[str]:
    yield "## The terms\n"
    yield _wrapped(
        "They are those of `clonometer advise` (docs/advise.md says what measures each). A census of the first side "
        "counts the page faults and the CPU time of each child, exactly, and of the server itself. Each fault has the "
        "price of `cow.child` or `cow.fresh`, its tear-down that of `teardown.exit`, and each fault of the server that "
        "of `cow.parent`. What a language's fork takes more than C's is in those, and not counted beside them."
    )
    yield _wrapped(
        "- **start of work of the child**: what is left of a child's CPU time. Prices are of another moment than the "
        "census: where they are above what the child used, this is below zero."
    )
    yield _wrapped(
        "- **by `perf`**: the terms beside another instrument, which has no prices and counts nothing. It samples all "
        "CPUs 5,000 times a second. A sample belongs to the page fault, the end of a task or the launch "
        "on the kernel's stack. All tasks of the server count, beside those that hand its requests on."
    )
    yield _wrapped("- **the rest**: what all tasks use above that, such as a proxy that stands before the server.")
    yield _wrapped(
        "No term: listening sockets that many tasks wait for, memory that threads map and unmap, arenas of allocators, "
        "caches that are lost. Where a figure is off, the server's section says what is missing."
    )


def _case(server: Compared) -> Iterator[str]:
    case, result = server.case, server.result
    yield f'<a id="{case.name}"></a>\n\n## {case.title}\n'
    yield _wrapped(case.what)
    load = f"Load, with that of the measurement: {result['load']}."
    yield _wrapped(f"{result['version']}; a request is {case.request}. {result['machine']}, {result['date']}. {load}")
    yield (
        "| side | CPU a request | requests a second | p50 | p99 | longest |\n|---|---:|---:|---:|---:|---:|\n"
        + "".join(_side(side) for side in result["sides"])
    )
    for side in result["sides"]:
        yield from _seen(side)
    # What the first side shows is the same for all others.
    for each in server.foretold[:1]:
        yield from _explained(each)
        yield from _profile(each, result["sides"][0]["seen"].get("profile", {}))
    if case.missing_term:
        yield _wrapped(f"**What is missing.** {case.missing_term}")
    failed = [f"{side['failed']:,.0f} of {side['name']}" for side in result["sides"] if side["failed"]]
    if failed:
        yield _wrapped(f"Requests that failed: {', '.join(failed)}.")


def _side(side: Mapping[str, Any]) -> str:
    times = [_time(side[key]) for key in ("p50_s", "p99_s", "longest_s")]
    rate = side["rate"]
    return (
        f"| {side['name']} | {_time(side['cpu_s'], spread=True)} | {rate[0]:,.0f} ({rate[1]:,.0f} to {rate[2]:,.0f}) "
        f"| {' | '.join(times)} |\n"
    )


def _time(values: Sequence[float], *, spread: bool = False) -> str:
    value, low, high = (format_duration(each * _S) for each in values)
    return f"{value} ({low} to {high})" if spread else value


def _seen(side: Mapping[str, Any]) -> Iterator[str]:
    """What the census saw of a side."""
    census = side["seen"]["census"]
    if "unavailable" in census:
        yield _wrapped(f"{side['name'].capitalize()}: no census ({census['unavailable']}).")
        return
    for mechanism, way in census["ways"].items():
        if way["known"] == 0 or way["cpu_median_ns"] is None:
            continue
        made = _MADE.get(mechanism, f"tasks by {mechanism}")
        rate = way["created"] / census["seconds"]
        fork = (side["seen"]["predict"].get("fork") or {}).get("later_ns") if mechanism == "fork" else None
        foreseen = f" (`predict`: {_span_ns(fork)})" if fork else ""
        yield _wrapped(
            f"**{side['name'].capitalize()}** creates {_few(rate)} {made} a second. A creation takes "
            f"{format_duration(way['making_median_ns'])}{foreseen}; each then uses "
            f"{format_duration(way['cpu_median_ns'])} of CPU time "
            f"and {counted(round(way['minor_faults_median']), 'page fault')} itself (medians of the census)."
        )


def _few(rate: float) -> str:
    """A rate; one below 1 is not none."""
    return f"{rate:,.0f}" if rate >= 1 else f"{rate:.2g}"


def _span_ns(span: Mapping[str, float]) -> str:
    value, low, high = (format_duration(span[key]) for key in ("median", "low", "high"))
    return f"{value}, {low} to {high}"


def _explained(each: Foretold) -> Iterator[str]:
    """What a launch costs the first side, term by term."""
    if each.ratio is None:
        yield _wrapped(f"*{each.side}* was not foretold: {each.reason}.")
    elif each.parts:
        rows = "".join(f"| {' | '.join(row)} |\n" for row in words_of(each.parts))
        yield f"| {each.base}: a request | {format_duration(each.base_ns)} | |\n|---|---:|---|\n{rows}"


def _profile(each: Foretold, profile: Mapping[str, Any]) -> Iterator[str]:
    """Where the CPU time of the first side goes by samples, beside its terms where its children have any."""
    if "shares" not in profile:
        return
    shares = profile["shares"]
    terms = {
        group: sum(part.ns for name, part in each.parts.items() if name in names) / each.base_ns
        for group, names in PARTS.items()
    }
    if FAULTS not in each.parts:
        rows = "".join(f"| {group} | {share:.0%} |\n" for group, share in shares.items())
        yield f"| {each.base}: CPU time by `perf`, {profile['samples']:,} samples | |\n|---|---:|\n{rows}"
        return
    by_perf = {group: shares[group] for group in PARTS}
    rows = "".join(f"| {group} | {terms[group]:.0%} | {share:.0%} |\n" for group, share in by_perf.items())
    rest = f"| all else | {1 - sum(terms.values()):.0%} | {1 - sum(by_perf.values()):.0%} |\n"
    user = f"| of that {USER} | | {shares[USER]:.0%} |\n"
    yield (
        f"| {each.base}: CPU time | by the terms | by `perf`, {profile['samples']:,} samples |\n|---|---:|---:|\n"
        f"{rows}{rest}{user}"
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False) + "\n"
