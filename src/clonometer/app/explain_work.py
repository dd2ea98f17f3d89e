"""``explain work.factor``: why threads and processes at work take different times."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from clonometer.app.measuring import find_catalogue
from clonometer.errors import unknown
from clonometer.runner.interfaces import Progress, counting
from clonometer.runner.interrupts import interruption
from clonometer.runner.putting_back import put_back_first
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing.work.ablation import ablate
from clonometer.tracing.work.measure import WorkWish, explain_work, work_sides
from clonometer.tracing.work.types import TIERS, WorkExplanation

_PAIRS = 12


def explain_work_factor(
    settings: Sequence[str], *, pairs: int | None, tier: str | None, ablation: bool, progress: Progress
) -> WorkExplanation:
    """Trace workers that are threads and workers that are processes, as `clonometer.explain` says."""
    if tier is not None and tier not in TIERS:
        raise unknown("tier", tier, TIERS)
    drivers, catalogue = find_catalogue(progress)
    cpus = len(os.sched_getaffinity(0))
    sides = work_sides(with_workers(settings, cpus), catalogue)
    most = pairs or _PAIRS
    with interruption() as wish_to_stop:
        put_back_first(progress)
        tracer = ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
        wish = WorkWish(most, tier, counting(progress, "threads and processes, alternately", most))
        explanation = explain_work(tracer, sides, wish, cpus=cpus)
        if ablation:
            series = ablate(tracer, sides[0], catalogue, most, counting(progress, "ablation", most))
            explanation = replace(explanation, ablation=series)
    return explanation


def with_workers(settings: Sequence[str], cpus: int) -> list[str]:
    """Let as many work as there are CPUs where nothing else is asked: a single worker meets nobody."""
    given = any(setting.partition("=")[0].strip() == "workers" for setting in settings)
    return [*settings, *([] if given else [f"workers={cpus}"])]
