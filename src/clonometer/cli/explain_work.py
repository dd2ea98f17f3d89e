"""``clonometer explain work.factor``: why threads and processes at work take different times."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import can_write, plain_width, wants_colour
from clonometer.cli.explain_files import Files, watcher
from clonometer.errors import UsageError, unknown

if TYPE_CHECKING:
    from clonometer.explain.work import WorkExplanation

_PAIRS = 12


def explain_work_factor(
    settings: Sequence[str],
    *,
    pairs: int | None,
    tier: str | None,
    ablation: bool,
    as_json: bool,
    refused: Sequence[str],
    files: Files,
) -> None:
    """Measure, print and write.

    Parameters
    ----------
    settings
        Texts ``axis=value``.
    pairs
        Processes of each side; None: as many as are of use.
    tier
        Use at most this tracing tier.
    ablation
        Whether to measure the ablation beside it.
    as_json
        Whether to print JSON instead of a table.
    refused
        Options that were given but mean nothing here.
    files
        Where else it goes.
    """
    if refused:
        raise UsageError(
            f"{refused[0]} is about single launches: explain work.factor sets threads and processes side by side",
            "--html and --trace show what every worker does in one execution",
        )
    from clonometer.explain.work.types import TIERS
    from clonometer.records import to_json

    if tier is not None and tier not in TIERS:
        raise unknown("tier", tier, TIERS)
    files.check()
    explanation = _measure(settings, pairs or _PAIRS, tier, ablation=ablation)
    text = json.dumps(to_json(explanation), indent=2, allow_nan=False)
    if as_json:
        click.echo(text)
    else:
        from clonometer.views.terminal.work import render_work

        colour, plain = wants_colour(sys.stdout), not can_write(sys.stdout, "µ×…–")
        click.echo(
            render_work(explanation, width=plain_width(), colour=colour, ascii_only=plain), nl=False, color=colour
        )
    files.write(explanation, text)


def _measure(settings: Sequence[str], pairs: int, tier: str | None, *, ablation: bool) -> WorkExplanation:
    from clonometer.cli.measuring import find_catalogue
    from clonometer.explain.work import WorkWish, explain_work, work_sides
    from clonometer.explain.work.ablation import ablate
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.tracing import ProbeTracer

    drivers, catalogue = find_catalogue()
    sides = work_sides(settings, catalogue)
    with interruption() as wish_to_stop:
        tracer = ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
        wish = WorkWish(pairs, tier, watcher("threads and processes in turn"))
        explanation = explain_work(tracer, sides, wish, cpus=len(os.sched_getaffinity(0)))
        if ablation:
            series = ablate(tracer, sides[0], catalogue, pairs, watcher("ablation"))
            explanation = replace(explanation, ablation=series)
    return explanation
