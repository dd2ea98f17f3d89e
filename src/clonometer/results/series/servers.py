"""Servers under load: what each design took under each load, to say and to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run
from clonometer.results.series_types import ScanSeries, ServerRow

FAMILY = "server"
LATENCY, LATE, CPU, WHOLE_AGAIN = "latency_ns", "sent_late_ns", "server_cpu_each_ns", "whole_again_ns"
RATE, CRASH, MEMORY = "rate_hz", "crash", "parent_bytes"
#: How long a server is watched changes nothing of what it does.
_LEFT_OUT = ("load_ns", "arrival_seed")
#: A server that answers a smaller share of what is sent cannot keep up.
_KEEPS_UP = 0.95


@dataclass(frozen=True)
class ServerOutcome:
    """One server under one load: its rows by quantity, and the axes that are off their defaults."""

    workload: str
    cell: str
    load: tuple[tuple[str, int | str], ...]
    rate: int
    rows: Mapping[str, RunEstimate]

    def count(self, quantity: str) -> float | None:
        """A number that is no time; None where it was not measured."""
        row = self.rows.get(quantity)
        return row.value if row else None

    def median_ns(self, quantity: str) -> float | None:
        """A time; None where it was not measured."""
        row = self.rows.get(quantity)
        return row.median_ns if row else None

    @property
    def crashes(self) -> bool:
        """Whether the code of a request crashed."""
        return self.count("dead_tasks") is not None

    @property
    def fell_behind(self) -> bool:
        """Whether it answered fewer requests than were sent."""
        served = self.count("served_per_s")
        return served is not None and served < _KEEPS_UP * self.rate


@cached_per_run
def outcomes_of(estimates: RunEstimates) -> tuple[ServerOutcome, ...]:
    """Every server of a run that answered, in the order of the plan."""
    outcomes = []
    for cell, rows in estimates.cells.items():
        known = {row.quantity: row for row in rows.values() if row.n_samples}
        if LATENCY in known and known[LATENCY].family == FAMILY:
            latency = known[LATENCY]
            load = tuple(sorted(estimates.changes(latency, *_LEFT_OUT).items()))
            rate = int(latency.condition[RATE])
            outcomes.append(ServerOutcome(latency.workload, cell, load, rate, known))
    return tuple(outcomes)


@cached_per_run
def outcomes_by_load(estimates: RunEstimates) -> dict[tuple[tuple[str, int | str], ...], tuple[ServerOutcome, ...]]:
    """The same under each load in which no code crashed."""
    loads: dict[tuple[tuple[str, int | str], ...], tuple[ServerOutcome, ...]] = {}
    for outcome in outcomes_of(estimates):
        if not outcome.crashes:
            loads[outcome.load] = (*loads.get(outcome.load, ()), outcome)
    return loads


@cached_per_run
def outcomes_along(estimates: RunEstimates, axis: str) -> tuple[tuple[ServerOutcome, ...], ...]:
    """The same server at several values of a numeric axis, all else being equal, the least first."""
    servers: dict[tuple[object, ...], list[ServerOutcome]] = {}
    for outcome in outcomes_of(estimates):
        servers.setdefault((outcome.workload, load_without(outcome, axis)), []).append(outcome)
    several = [alike for alike in servers.values() if len(alike) > 1]
    return tuple(tuple(sorted(alike, key=lambda each: int(each.rows[LATENCY].condition[axis]))) for alike in several)


def load_without(outcome: ServerOutcome, axis: str) -> tuple[tuple[str, int | str], ...]:
    """The axes of a server that are off their defaults, but for one."""
    return tuple(item for item in outcome.load if item[0] != axis)


def server_rows(estimates: RunEstimates) -> tuple[ServerRow, ...]:
    """Every server in which no code crashed, ready to draw."""
    return tuple(
        ServerRow(
            workload=outcome.workload,
            load=tuple(sorted({**dict(load), RATE: outcome.rate}.items())),
            median_ns=outcome.median_ns(LATENCY) or 0.0,
            p99_ns=outcome.rows[LATENCY].p99_ns,
            cpu_ns=outcome.median_ns(CPU),
            fell_behind=outcome.fell_behind,
        )
        for load, outcomes in outcomes_by_load(estimates).items()
        for outcome in outcomes
    )


def rate_lines(estimates: RunEstimates) -> tuple[ScanSeries, ...]:
    """Latencies of each server against the rate: of half and of 99% of its requests."""
    lines = []
    for several in outcomes_along(estimates, RATE):
        rows = [outcome.rows[LATENCY] for outcome in several]
        ends = [row.median_with_ends for row in rows]
        tails = [row.p99_ns for row in rows]
        lines.append(_line(several, "median_ns", ends))
        if all(tails):
            lines.append(_line(several, "p99_ns", [(tail or 0.0,) * 3 for tail in tails]))
    return tuple(lines)


def _line(outcomes: Sequence[ServerOutcome], quantity: str, ends: Sequence[tuple[float, float, float]]) -> ScanSeries:
    medians, lows, highs = (tuple(column) for column in zip(*ends, strict=True))
    return ScanSeries(
        workload=outcomes[0].workload,
        family=FAMILY,
        axis=RATE,
        axis_kind="count",
        stage=None,
        quantity=quantity,
        temperature=None,
        placement=None,
        condition=dict(load_without(outcomes[0], RATE)),
        x=tuple(outcome.rate for outcome in outcomes),
        medians=medians,
        lows=lows,
        highs=highs,
    )


SERIES = {
    "servers": lambda estimates, _: server_rows(estimates),
    "server_rates": lambda estimates, _: rate_lines(estimates),
}
