"""``clonometer explain work.factor``: why threads and processes at work take different times."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from clonometer.app.measuring import find_catalogue
from clonometer.cli.console import print_drawn
from clonometer.cli.explain_files import Asked, watcher
from clonometer.cli.progress import make_progress
from clonometer.errors import UsageError, unknown
from clonometer.runner.interrupts import interruption
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing.work.ablation import ablate
from clonometer.tracing.work.measure import WorkWish, explain_work, work_sides
from clonometer.tracing.work.types import TIERS, WorkExplanation
from clonometer.views.documents.work import work_document
from clonometer.views.terminal.document import render_document

_PAIRS = 12


def explain_work_factor(asked: Asked) -> None:
    """Measure, print and write."""
    of_launches = {
        "--vs": asked.other,
        "--timeline": asked.timeline,
        "--calls": asked.calls,
        "--folded": asked.folded,
        "--arguments": asked.arguments,
    }
    refused = next((name for name, value in of_launches.items() if value), None)
    if refused is not None:
        raise UsageError(
            f"{refused} is about single launches: explain work.factor sets threads and processes side by side",
            "--html and --trace show what every worker does in one execution",
        )
    if asked.tier is not None and asked.tier not in TIERS:
        raise unknown("tier", asked.tier, TIERS)
    asked.check()
    explanation = _measure(asked)
    asked.answer(explanation, lambda: print_drawn(render_document, work_document, explanation))


def _measure(asked: Asked) -> WorkExplanation:
    drivers, catalogue = find_catalogue(make_progress())
    cpus = len(os.sched_getaffinity(0))
    sides = work_sides(with_workers(asked.settings, cpus), catalogue)
    pairs = asked.processes or _PAIRS
    with interruption() as wish_to_stop:
        tracer = ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
        wish = WorkWish(pairs, asked.tier, watcher("threads and processes in turn"))
        explanation = explain_work(tracer, sides, wish, cpus=cpus)
        if asked.ablation:
            series = ablate(tracer, sides[0], catalogue, pairs, watcher("ablation"))
            explanation = replace(explanation, ablation=series)
    return explanation


def with_workers(settings: Sequence[str], cpus: int) -> list[str]:
    """Let as many work as there are CPUs where nothing else is asked: a single worker meets nobody."""
    given = any(setting.partition("=")[0].strip() == "workers" for setting in settings)
    return [*settings, *([] if given else [f"workers={cpus}"])]
