"""What runtimes do besides launching: tasks that they create or use again, and their collectors' pauses."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

import numpy as np

from clonometer.families.types import COLLECTOR
from clonometer.results.rows.groups import SampleGroup
from clonometer.results.types import CollectorPauses, TasksCreated
from clonometer.run_document import BlockEntry
from clonometer.stats.quantiles import quantile_of_ordered

#: Of so many launches the slowest twentieth is told, of so many the slowest hundredth.
_LEAST_LAUNCHES = {0.05: 100, 0.01: 300}


def tasks_created(blocks: Sequence[BlockEntry]) -> TasksCreated | None:
    """Count the kernel's new tasks per launch, block by block.

    The kernel counts for the whole machine, so that what other programs start counts as well: no launch of the block
    with the fewest created more on average. Blocks with failed launches do not count.

    Returns
    -------
    TasksCreated or None
        None where no block has counted.
    """
    counts = sorted(_per_launch(blocks, lambda block: block.facts.get("tasks_created")))
    if not counts:
        return None
    return TasksCreated(counts[0], counts[1] if len(counts) > 1 else None, statistics.median(counts))


def switches_per_launch(blocks: Sequence[BlockEntry]) -> float | None:
    """How often a thread of the process left its CPU, per launch of the block in which that was rarest.

    It waited, or whom it woke took its place at once. A launch without any is done within one thread, by the runtime.
    """
    return min(_per_launch(blocks, _switches), default=None)


def _switches(block: BlockEntry) -> float | None:
    waited, pushed = block.facts.get("voluntary_switches"), block.facts.get("involuntary_switches")
    return None if waited is None or pushed is None else waited + pushed


def _per_launch(blocks: Sequence[BlockEntry], counted: Callable[[BlockEntry], float | None]) -> list[float]:
    """What blocks counted, by their launches: of those that counted, and where no launch failed."""
    whole = [block for block in blocks if block.rows > 0 and block.outcomes.get("ok") == block.rows]
    return [count / block.rows for block in whole if (count := counted(block)) is not None and count >= 0]


def collector_pauses(
    group: SampleGroup, groups: Sequence[SampleGroup], blocks: Sequence[BlockEntry]
) -> CollectorPauses | None:
    """Hold the slowest launches against the pauses of the collector that were recorded for each launch.

    The slowest are those at or above the 99th percentile, of fewer than 300 launches above the 95th. A launch is slow
    by its pause if it would not be among them without it.

    Returns
    -------
    CollectorPauses or None
        None where the runtime has no collector, and of fewer than 100 launches.
    """
    pauses = next((each.values for each in groups if each.quantity.name == COLLECTOR), None)
    share = min((share for share, least in _LEAST_LAUNCHES.items() if group.n_samples >= least), default=None)
    if pauses is None or share is None or group.totals is not None or pauses.size != group.values.size:
        return None
    limit_ns = quantile_of_ordered(group.ordered, 1 - share)
    slowest = group.values >= limit_ns
    paused = pauses > 0
    by_pause = slowest & paused & (group.values - pauses < limit_ns)
    counted = [block.facts.get("collections") for block in blocks]
    known = [count for count in counted if count is not None and count >= 0]
    return CollectorPauses(
        share=share,
        launches=group.n_samples,
        paused=int(paused.sum()),
        pause_ns=float(np.median(pauses[paused])) if paused.any() else None,
        slowest=int(slowest.sum()),
        slowest_paused=int((slowest & paused).sum()),
        slowest_by_pause=int(by_pause.sum()),
        collections=int(sum(known)) if known else None,
    )
