"""``capacity``: the highest rate at which servers keep a limit of latency."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.errors import UsageError
from clonometer.results.capacity import (
    Capacity,
    RateStep,
    ServerCapacity,
    judge_step,
    next_rate,
    reached,
)
from clonometer.results.latency_limit import LatencyLimit, parse_latency_limit
from clonometer.results.series.servers import LATE, LATENCY, RATE
from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue
    from clonometer.runfile import Run
    from clonometer.runner.drivers import Drivers

__all__ = ["capacity"]

LIMIT = "p99<5ms"
#: Rates that are tried; the search ends at either end, and where both sides of the limit are so close.
FIRST_HZ, LEAST_HZ, MOST_HZ, NARROW = 500, 8, 128_000, 1.1
#: Of one server, whatever it answers.
MOST_STEPS = 16
#: Processes of a step, each of which is watched so long, and longer where few requests would come.
_PROCESSES = 3
_LOAD_NS, _MOST_LOAD_NS, _FEW_REQUESTS = 1_000_000_000, 10_000_000_000, 200
_LENGTH = "load_ns"
#: Starting a process, and waiting for its last answers.
_START_S = 0.5
#: Measures one rate; None with the reason where it cannot be.
Measure = Callable[[int], RateStep | str]


@shown_as("capacity", "capacity_document")
def capacity(
    workloads: Sequence[str],
    *,
    limit: str = LIMIT,
    settings: Sequence[str] = (),
    seed: int | None = None,
    progress: Progress = SILENT,
) -> Capacity:
    """Search the highest rate at which servers keep a limit of latency.

    The rate is doubled until the limit breaks, and then narrowed to a tenth. Each rate is measured by three fresh
    processes for a second each.

    Parameters
    ----------
    workloads
        Servers, such as ``serve.fork``, or globs of them.
    limit
        Such as ``p99<5ms``.
    settings
        Values of axes, one each, such as ``parent_bytes=256MiB``.
    seed
        Fixes the order of processes.
    progress
        Watches.

    Raises
    ------
    UsageError
        For what is no limit, no server, or several values of an axis.
    DriverError
        If no driver can be used.
    KeyboardInterrupt
        The user has had enough.
    """
    from clonometer.app.measuring import find_catalogue

    read = parse_latency_limit(limit)
    drivers, catalogue = find_catalogue(progress, workloads)
    names = servers_named(workloads, settings, catalogue)
    start = draw_seed(seed)
    servers = []
    for name in names:
        measure = _Measuring(name, tuple(settings), read, drivers, catalogue, start, progress)
        servers.append(search(name, settings, read, measure, progress.say))
    return Capacity(read, servers)


def servers_named(workloads: Sequence[str], settings: Sequence[str], catalogue: Catalogue) -> list[str]:
    """Find the servers that are meant, and refuse what has no rate.

    Raises
    ------
    UsageError
        For what is no server, several values of an axis, or a rate.
    """
    from clonometer.plan.adhoc import parse_settings
    from clonometer.plan.expand import find_workloads

    for axis, values in parse_settings(settings).items():
        if axis in (RATE, _LENGTH):
            raise UsageError(f"--set {axis} cannot be combined with a search for the rate", f"leave {axis} out")
        if len(values) > 1:
            raise UsageError(f"--set {axis}={','.join(values)} has several values", "one value for each axis")
    named = [workload for name in workloads for workload in find_workloads(name, catalogue)]
    for workload in named:
        if RATE not in workload.axes:
            raise UsageError(f"{workload.id} is not a server: it has no {RATE}", "clonometer capacity 'serve.*'")
    return list(dict.fromkeys(workload.id for workload in named))


def search(
    name: str, settings: Sequence[str], limit: LatencyLimit, measure: Measure, say: Callable[[str], None]
) -> ServerCapacity:
    """Try rates until both sides of the limit are close, no rate can keep it, or it cannot be measured."""
    steps: list[RateStep] = []
    while len(steps) < MOST_STEPS and not ServerCapacity(name, (), steps, None).is_hopeless(limit):
        rate = next_rate(steps, first=FIRST_HZ, least=LEAST_HZ, most=MOST_HZ, narrow=NARROW)
        if rate is None:
            break
        step = measure(rate)
        if isinstance(step, str):
            return ServerCapacity(name, tuple(settings), tuple(steps), step)
        steps.append(step)
        say(f"{name}: {rate:,} requests/s {'keep' if step.keeps else 'break'} the limit")
    return ServerCapacity(name, tuple(settings), tuple(steps))


@dataclass(frozen=True)
class _Measuring:
    """Measures a server at any rate."""

    name: str
    settings: tuple[str, ...]
    limit: LatencyLimit
    drivers: Drivers
    catalogue: Catalogue
    seed: int
    progress: Progress

    def __call__(self, rate: int) -> RateStep | str:
        from clonometer.app.measuring import briefly_measured
        from clonometer.plan.adhoc import plan_from_arguments

        load_ns = min(_MOST_LOAD_NS, max(_LOAD_NS, _FEW_REQUESTS * 1_000_000_000 // rate))
        asked = [*self.settings, f"{RATE}={rate}", f"{_LENGTH}={load_ns}"]
        limits = {"processes": _PROCESSES, "samples": 1, "blocks": 1, "warmup": 0}
        budget_s = _PROCESSES * (load_ns * 1e-9 + _START_S)
        plan = plan_from_arguments([self.name], asked, self.catalogue, budget_seconds=budget_s, limits=limits)
        measuring = briefly_measured(
            plan, self.catalogue, self.drivers, seed=self.seed, name="capacity", progress=self.progress
        )
        with measuring as (run, outcome):
            cells = run.cells()
            reasons = [end.reason for end in outcome.cells if end.reason and end.status != "ok"]
            return _step(run, cells[0], self.limit, rate) if cells else next(iter(reasons), "nothing was measured")


def _step(run: Run, cell: str, limit: LatencyLimit, rate: int) -> RateStep:
    from clonometer.results.rows.source import null_mask

    columns = run.columns(cell, [LATENCY, LATE, "served_per_s", "errno"])
    latencies = columns[LATENCY]
    answered = ~null_mask(latencies)
    served = [float(value) for value in columns["served_per_s"] if not math.isnan(value)]
    failed = int((columns["errno"] != 0).sum())
    mean = sum(served) / len(served) if served else None
    step = judge_step(limit, rate, latencies[answered].tolist(), failed, mean)
    late = sorted(columns[LATE][answered].tolist())
    return replace(step, client_late_ns=reached(late, limit.share, len(late)))
