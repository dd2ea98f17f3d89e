"""``clonometer explain work.factor``: why threads and processes at work take different times."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import can_write, plain_width, wants_colour
from clonometer.errors import UsageError, unknown

if TYPE_CHECKING:
    from clonometer.cli.explain import Files
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
        Look no closer than that.
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
    from clonometer.explain.work.measure import TIERS

    if tier is not None and tier not in TIERS:
        raise unknown("tier", tier, TIERS)
    one = _measure(settings, pairs or _PAIRS, tier, ablation=ablation)
    from clonometer.explain.work.as_json import work_to_json

    text = json.dumps(work_to_json(one), indent=2, allow_nan=False)
    if as_json:
        click.echo(text)
    else:
        from clonometer.views.terminal.work import render_work

        colour, plain = wants_colour(sys.stdout), not can_write(sys.stdout, "µ×…–")
        click.echo(render_work(one, width=plain_width(), colour=colour, ascii_only=plain), nl=False, color=colour)
    _write(files, one, text)


def _measure(settings: Sequence[str], pairs: int, tier: str | None, *, ablation: bool) -> WorkExplanation:
    from clonometer.cli.measuring import find_catalogue
    from clonometer.explain.work import WorkWish, explain_work, work_sides
    from clonometer.explain.work.ablation import ablate
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.tracing import Tracer

    drivers, catalogue = find_catalogue()
    sides = work_sides(settings, catalogue)
    with interruption() as wish_to_stop:
        tracer = Tracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
        wish = WorkWish(pairs, tier, _watcher("threads and processes in turn"))
        one = explain_work(tracer, sides, wish, cpus=len(os.sched_getaffinity(0)))
        if ablation:
            series = ablate(tracer, sides[0], catalogue, pairs, _watcher("ablation"))
            one = replace(one, ablation=series)
    return one


def _watcher(name: str) -> Callable[[int, int], None]:
    def watch(done: int, of: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{name}: {done} of {of}" + ("\n" if done == of else ""), nl=False, err=True)

    return watch


def _write(files: Files, one: WorkExplanation, text: str) -> None:
    from clonometer.cli.outputs import write_bytes

    written: list[tuple[Path, bytes | str]] = []
    if files.out is not None:
        written.append((files.out, text + "\n"))
    if files.html is not None:
        from clonometer.views.html.work import render_work_page

        written.append((files.html, render_work_page(one)))
    if files.trace is not None:
        from clonometer.views.trace_events import work_trace_events

        written.append((files.trace, json.dumps(work_trace_events(one), allow_nan=False) + "\n"))
    if files.picture is not None:
        from clonometer.views.work_picture import work_picture

        written.append((files.picture, work_picture(one, files.picture.suffix.lower().removeprefix("."))))
    for path, content in written:
        write_bytes(path, content if isinstance(content, bytes) else content.encode("utf-8"))
        click.echo(f"wrote {path}", err=True)
