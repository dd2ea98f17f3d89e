"""What designs of servers cost under the same load, which could not keep up, and what a crash takes along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.families import workload_words
from clonometer.grouping import group_by
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, listed, short_median, verdict
from clonometer.results.series.servers import (
    CPU,
    LATE,
    LATENCY,
    MEMORY,
    RATE,
    WHOLE_AGAIN,
    ServerOutcome,
    load_without,
    outcomes_along,
    outcomes_by_load,
    outcomes_of,
)
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes, format_duration
from clonometer.verdicts import Direction
from clonometer.words import axis_words

#: Who is compared with whom: launching against launching, and each way of launching with its pool.
_PAIRS = (
    ("serve.fork", "serve.thread"),
    ("serve.spawn", "serve.fork"),
    ("serve.fork", "serve.prefork"),
    ("serve.thread", "serve.thread_pool"),
)
#: On the first screen: what a request costs under the plainest load, what casts doubt on it, then under other loads.
_PLAINEST, _DOUBTED, _OTHER_LOADS = range(3)
#: The client is late where 1% of its requests are sent later than this share of the 99th percentile of latencies.
_LATE_SHARE = 0.2


def servers(tests: PairwiseTests) -> Findings:
    """Compare designs under each load; then say what is to be known before the figures are believed."""
    loads = [outcomes for outcomes in outcomes_by_load(tests.estimates).values() if len(outcomes) > 1]
    plainest = min((len(outcomes[0].load) for outcomes in loads), default=0)
    for outcomes in loads:
        place = _PLAINEST if len(outcomes[0].load) == plainest else _OTHER_LOADS
        yield _cpu_finding(tests, outcomes, place)
        yield _latency_finding(outcomes)
    grown = outcomes_along(tests.estimates, MEMORY)
    for by_design in group_by((load_without(outcomes[0], MEMORY), outcomes) for outcomes in grown).values():
        yield _memory_finding(tests, by_design)
    for several in outcomes_along(tests.estimates, RATE):
        yield _rate_finding(tests, several)
    for outcome in outcomes_of(tests.estimates):
        yield _crash_finding(outcome)
        yield _overload_finding(outcome)
        yield _late_finding(outcome)


def _head(outcome: ServerOutcome) -> str:
    return condition({RATE: outcome.rate} | dict(outcome.load), None)


def _id(kind: str, outcome: ServerOutcome, *more: str) -> str:
    # Not what the rate is by default: its value says which load it was.
    load = {RATE: outcome.rate} | dict(outcome.load)
    return ".".join(["servers", kind, *more, *(f"{axis}={value}" for axis, value in sorted(load.items()))])


def _thing(workload: str) -> str:
    return f"a {workload_words(workload).thing}"


def _numbers(outcomes: Sequence[ServerOutcome]) -> dict[str, Any]:
    return {"load": dict(outcomes[0].load), "cells": [outcome.cell for outcome in outcomes]}


def _in_order(values: Mapping[str, float]) -> str:
    """Name designs from the least to the most, each with its value."""
    ranked = sorted(values, key=lambda workload: values[workload])
    return listed([f"{workload} ({format_duration(values[workload])})" for workload in ranked])


def _values(outcomes: Sequence[ServerOutcome], quantity: str) -> dict[str, float]:
    medians = {outcome.workload: outcome.median_ns(quantity) for outcome in outcomes}
    return {workload: median for workload, median in medians.items() if median is not None}


def _cpu_finding(tests: PairwiseTests, outcomes: Sequence[ServerOutcome], place: int) -> Finding | None:
    """Say what a request costs in CPU time, and how launching compares."""
    rows = {outcome.workload: outcome.rows[CPU] for outcome in outcomes if CPU in outcome.rows}
    values = _values(outcomes, CPU)
    if len(values) < 2:
        return None
    pairs = [(a, b) for a, b in _PAIRS if a in rows and b in rows]
    compared = [(a, b, tests.compare(rows[a], rows[b])) for a, b in pairs]
    changes = [(a, b, change) for a, b, change in compared if change is not None]
    head = f"CPU time per request, {_head(outcomes[0])}"
    clauses = [f"from the least to the most: {_in_order(values)}"]
    clauses += [verdict(_thing(a), _thing(b), change) for a, b, change in changes]
    numbers = _numbers(outcomes) | {
        "server_cpu_each_ns": values,
        "ratios": [numbers_of(change) | {"design": a, "other": b} for a, b, change in changes],
    }
    shown = headed(head, clauses[1:3] or clauses)
    return Finding(_id("cpu", outcomes[0]), headed(head, clauses), numbers, shown, (place,))


def _latency_finding(outcomes: Sequence[ServerOutcome]) -> Finding | None:
    """Say how soon requests are answered: half of them, and all but one in a hundred."""
    medians = _values(outcomes, LATENCY)
    rows = {outcome.workload: outcome.rows[LATENCY] for outcome in outcomes}
    p99 = {workload: row.p99_ns for workload, row in rows.items() if row.p99_ns is not None}
    head = f"latency, {_head(outcomes[0])}"
    clauses = [f"half of the requests are answered soonest by {_in_order(medians)}"]
    if len(p99) > 1:
        clauses.append(f"99% are answered soonest by {_in_order(p99)}")
    numbers = _numbers(outcomes) | {"median_ns": medians, "p99_ns": p99}
    return Finding(_id("latency", outcomes[0]), headed(head, clauses), numbers)


def _rate_finding(tests: PairwiseTests, outcomes: Sequence[ServerOutcome]) -> Finding | None:
    """Say how latency grows with the rate, which no line describes: it has no end where a server falls behind."""
    tests.mark_reported((row for outcome in outcomes for row in outcome.rows.values()), RATE)
    first, last = outcomes[0], outcomes[-1]
    medians = [(outcome.rate, outcome.median_ns(LATENCY)) for outcome in outcomes]
    known = [(rate, median) for rate, median in medians if median is not None]
    if len(known) < 2:
        return None
    rest = {axis: value for axis, value in first.load if axis != RATE}
    head = ", ".join(filter(None, [first.workload, condition(rest, None)]))
    ends = [f"{format_duration(median)} at {rate:,}" for rate, median in (known[0], known[-1])]
    texts = [f"half of the requests are answered within {ends[0]} and within {ends[1]} requests/s"]
    if first.rows[LATENCY].p99_ns is not None and last.rows[LATENCY].p99_ns is not None:
        tails = [f"{format_duration(each.rows[LATENCY].p99_ns or 0)} at {each.rate:,}" for each in (first, last)]
        texts.append(f"99% are answered within {tails[0]} and within {tails[1]}")
    numbers = {
        "latency_ns": dict(known),
        "p99_ns": {outcome.rate: outcome.rows[LATENCY].p99_ns for outcome in outcomes},
        "cells": [outcome.cell for outcome in outcomes],
    }
    values = [f"{axis}={value}" for axis, value in sorted(rest.items())]
    return Finding(".".join(["servers.rate", first.workload, *values]), headed(head, texts), numbers)


def _memory_finding(tests: PairwiseTests, grown: Sequence[Sequence[ServerOutcome]]) -> Finding | None:
    """Say which designs pay for memory in the parent; no slope: between two sizes a line is a guess."""
    tests.mark_reported((row for outcomes in grown for each in outcomes for row in each.rows.values()), MEMORY)
    ends = [(outcomes[-1].rows.get(CPU), outcomes[0].rows.get(CPU)) for outcomes in grown]
    changes = tests.compare_all((most, least) for most, least in ends if most is not None and least is not None)
    if not changes:
        return None
    changes.sort(key=lambda change: (change.direction == Direction.UNKNOWN, -change.size))
    clauses = [
        f"{change.other.workload} takes {change.upward.text} times as {'much' if change.rises else 'little'}"
        for change in changes
        if change.direction != Direction.UNKNOWN
    ]
    same = [change.other.workload for change in changes if change.direction == Direction.UNKNOWN]
    # So many asides would be a table: what is not sure is named.
    clauses += [f"a difference is open of {listed(same)}"] if same else []
    first = grown[0][0]
    most, least = (int(outcome.rows[LATENCY].condition[MEMORY]) for outcome in (grown[0][-1], first))
    load = {RATE: first.rate} | dict(load_without(first, MEMORY))
    head = condition({MEMORY: most} | load, None)
    against = f", beside {approximate_bytes(least)}" if least else ""
    numbers = {
        "ratios": [numbers_of(change) | {"design": change.other.workload} for change in changes],
        "verdict": str(changes[0].direction),
        "cells": [outcome.cell for outcomes in grown for outcome in (outcomes[0], outcomes[-1])],
    }
    head = f"{head}{against}, CPU time per request"
    name = ".".join(["memory.servers", *(f"{axis}={value}" for axis, value in sorted(load.items()))])
    return Finding(name, headed(head, clauses), numbers, headed(head, clauses[:1]))


def _overload_finding(outcome: ServerOutcome) -> Finding | None:
    served = outcome.count("served_per_s")
    if served is None or not outcome.fell_behind:
        return None
    text = f"the server could not keep up: {served:,.0f} of {outcome.rate:,} requests per second; latencies grew"
    numbers = {"served_per_s": served, "rate_hz": outcome.rate, "cells": [outcome.cell]}
    head = f"{outcome.workload}, {_head(outcome)}"
    return Finding(_id("overload", outcome, outcome.workload), headed(head, [text]), numbers, answers=(_DOUBTED,))


def _late_finding(outcome: ServerOutcome) -> Finding | None:
    """Say where the client was late itself, and not the server."""
    late, latency = outcome.rows.get(LATE), outcome.rows[LATENCY]
    if late is None or late.p99_ns is None or latency.p99_ns is None or outcome.crashes:
        return None
    if late.p99_ns < _LATE_SHARE * latency.p99_ns:
        return None
    head = f"{outcome.workload}, {_head(outcome)}"
    text = (
        f"the client itself sent 1% of the requests more than {format_duration(late.p99_ns)} late, "
        "and latencies contain it"
    )
    numbers = {"sent_late_p99_ns": late.p99_ns, "latency_p99_ns": latency.p99_ns, "cells": [outcome.cell]}
    return Finding(_id("client_late", outcome, outcome.workload), headed(head, [text]), numbers, answers=(_DOUBTED,))


def _crash_finding(outcome: ServerOutcome) -> Finding | None:
    """Say what a crash took along, and how soon all could answer again."""
    if not outcome.crashes:
        return None
    dead, lost = int(outcome.count("dead_tasks") or 0), int(outcome.count("lost") or 0)
    whole = outcome.rows.get(WHOLE_AGAIN)
    tasks = "1 task" if dead == 1 else f"{dead:,} tasks"
    requests = "1 request is" if lost == 1 else f"{lost:,} requests are"
    texts = [f"{tasks} {'dies' if dead == 1 else 'die'}, and {requests} lost"]
    if whole is not None and whole.median_ns == 0:
        texts.append("nothing has to be replaced")
    elif whole is not None:
        texts.append(f"the service is whole again after {short_median(whole)}")
    numbers = {
        "dead_tasks": dead,
        "lost": lost,
        "whole_again_ns": outcome.median_ns(WHOLE_AGAIN),
        "cells": [outcome.cell],
    }
    rest = {axis: value for axis, value in outcome.load if axis != "crash"}
    more = condition({RATE: outcome.rate} | rest, None)
    head = f"{outcome.workload}, {more}, {axis_words('crash', 'one')}"
    return Finding(_id("crash", outcome, outcome.workload), headed(head, texts), numbers)


FINDERS = (Finder(servers),)
