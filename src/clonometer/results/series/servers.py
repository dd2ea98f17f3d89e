"""Servers under load: what each design took under each load, to say and to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run

FAMILY = "server"
LATENCY, CPU, WHOLE_AGAIN = "latency_ns", "server_cpu_each_ns", "whole_again_ns"
RATE, CRASH = "rate_hz", "crash"
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
