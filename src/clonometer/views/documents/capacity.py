"""The highest rates at which servers keep a limit: a row for each, and the steps of the search."""

from __future__ import annotations

from clonometer.results.capacity import Capacity, ServerCapacity
from clonometer.results.latency_limit import LatencyLimit
from clonometer.units import format_duration
from clonometer.views.document import Document, DocumentBlock, Note, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table


def capacity_document(answer: Capacity, *, wide: bool = False) -> Document:
    """Make a document of an answer; ``wide``: also each step of the search."""
    limit = answer.limit
    texts = [_sentence(server, limit) for server in answer.servers]
    groups: list[list[DocumentBlock]] = [[Paragraph(text) for text in texts]]
    doubtful = [server.workload for server in answer.servers if server.is_in_doubt(limit)]
    if doubtful:
        text = (
            f"While {', '.join(doubtful)} broke the limit, the client itself was late: the machine was busy. "
            "Repeat on a quieter one, where rates may be higher."
        )
        groups += [[Note(text)]]
    groups += [[TableBlock(_summary(answer))]]
    if wide:
        groups += [[TableBlock(_steps(server, limit))] for server in answer.servers if server.steps]
    groups += [
        [
            Paragraph(
                "Requests arrive at random (Poisson), whether or not earlier ones were answered. Latency counts from "
                "the intended time of sending. Other work on the machine lowers these rates.",
                "dim",
            )
        ]
    ]
    return Document("capacity", "The highest rate that keeps a limit of latency", texts[0], groups)


def _sentence(server: ServerCapacity, limit: LatencyLimit) -> str:
    head = ", ".join([server.workload, *server.settings])
    kept, broken = server.kept_hz, server.broken_hz
    if server.reason is not None:
        return f"{head} cannot be measured: {server.reason}."
    if server.is_hopeless(limit):
        fastest = min(step.fastest_ns for step in server.steps if step.fastest_ns is not None)
        return f"{head} keeps {limit.text} at no rate: the fastest of all requests took {format_duration(fastest)}."
    if kept is None:
        return f"{head} keeps {limit.text} at no rate that was tried, down to {broken:,} requests/s."
    if broken is None:
        return f"{head} keeps {limit.text} at all rates that were tried, up to {kept:,} requests/s."
    return f"{head} keeps {limit.text} up to {kept:,} requests/s, and breaks it at {broken:,}."


def _rate(rate: int | None) -> str:
    return MISSING if rate is None else f"{rate:,}"


def _summary(answer: Capacity) -> Table:
    servers = answer.servers
    lows = [next((step for step in each.steps if step.rate_hz == each.kept_hz), None) for each in servers]
    return Table(
        [
            Column("", [each.workload for each in servers]),
            Column("keeps, 1/s", [_rate(each.kept_hz) for each in servers], "right"),
            Column("breaks, 1/s", [_rate(each.broken_hz) for each in servers], "right"),
            Column("p50 there", [_time(step.median_ns if step else None) for step in lows], "right"),
            Column(
                f"{answer.limit.quantile} there", [_time(step.latency_ns if step else None) for step in lows], "right"
            ),
        ],
        note="there: at the highest rate that keeps the limit.",
    )


def _time(time_ns: float | None) -> str:
    return MISSING if time_ns is None else format_duration(time_ns)


def _steps(server: ServerCapacity, limit: LatencyLimit) -> Table:
    steps = sorted(server.steps, key=lambda step: step.rate_hz)
    served = [MISSING if step.served_per_s is None else f"{step.served_per_s:,.0f}" for step in steps]
    return Table(
        [
            Column("requests/s", [f"{step.rate_hz:,}" for step in steps], "right"),
            Column("served, 1/s", served, "right"),
            Column("p50", [_time(step.median_ns) for step in steps], "right"),
            Column(limit.quantile, [_time(step.latency_ns) for step in steps], "right"),
            Column("client late", [_time(step.client_late_ns) for step in steps], "right", drop=1),
            Column("requests", [f"{step.requests:,}" for step in steps], "right"),
            Column("failed", [f"{step.failed:,}" for step in steps], "right"),
            Column("limit", ["kept" if step.keeps else "broken" for step in steps]),
        ],
        server.workload,
    )
