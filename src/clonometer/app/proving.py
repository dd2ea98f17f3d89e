"""Runs designs of servers in turn under the load of a wish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from clonometer.advice.designs import ServerDesign, design_named
from clonometer.advice.wish import KEPT, Wish
from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.errors import UsageError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.types import Catalogue, Plan
from clonometer.runfile import Run
from clonometer.runner.interfaces import SILENT, Progress

#: How long a period of load lasts: for as many requests, within limits.
_REQUESTS, _LEAST_S, _MOST_S = 200, 0.3, 1.5
_LIMITS = {"processes": 1, "samples": 1, "blocks": 1, "warmup": 0}
#: Both designs meet the same arrivals, of as many seeds: by chance alone those of one would be kinder.
SEEDS = 6


@contextmanager
def designs_run(
    wish: Wish, designs: Sequence[str], *, budget_s: float, seed: int, progress: Progress = SILENT
) -> Iterator[Run]:
    """Run servers of designs, a process of each after the other in random order, until the time is over.

    Yields
    ------
    run
        What was measured, open meanwhile.

    Raises
    ------
    UsageError
        If there are fewer than two.
    KeyboardInterrupt
        The user has had enough.
    """
    drivers, catalogue = find_catalogue(progress)
    if len(designs) < 2:
        raise UsageError("two designs are compared, and fewer qualify", "'clonometer advise' without --prove says why")
    plans = [_plan(wish, design_named(design), catalogue) for design in designs]
    targets = tuple(target for plan in plans for target in plan.targets)
    plan = replace(plans[0], name="advise", title="the best designs in turn", targets=targets, budget_seconds=budget_s)
    with briefly_measured(plan, catalogue, drivers, seed=seed, progress=progress) as (run, _):
        yield run


def _plan(wish: Wish, design: ServerDesign, catalogue: Catalogue) -> Plan:
    return plan_from_arguments([design.workload], settings_of(wish, design), catalogue, limits=_LIMITS)


def settings_of(wish: Wish, design: ServerDesign) -> list[str]:
    """Say the conditions of a design's workload that are those of a wish."""
    load_s = min(_MOST_S, max(_LEAST_S, _REQUESTS / wish.rate_hz))
    settings = [
        f"rate_hz={max(1, round(wish.rate_hz))}",
        f"load_ns={round(load_s * 1e9)}",
        f"work_ns={round(wish.work_ns)}",
        f"block_ns={round(wish.block_ns)}",
        f"request_bytes={wish.request_bytes}",
        f"response_bytes={wish.response_bytes}",
        f"parent_bytes={wish.memory_bytes}",
        f"dirtied_bytes={wish.written_bytes}",
        f"connections={wish.connections}",
        f"transport={wish.transport}",
        f"server_cpus={wish.cpus}",
        f"arrival_seed={','.join(map(str, range(1, SEEDS + 1)))}",
    ]
    # Tasks of a pool stay with their connections: of more clients some would never have an answer.
    settings += [f"clients={wish.workers}"] if wish.connections == KEPT else []
    return [*settings, f"server_workers={wish.workers}"] if design.shape in ("pool", "loop_and_pool") else settings
