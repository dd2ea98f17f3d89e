"""Figures of whole programs with workers: what is left of a gap, and curves."""

from __future__ import annotations

from collections.abc import Set
from functools import partial

from clonometer.results.types import Results
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.fitted import ablation_panel, ablation_points, ablation_title, fitted_charts
from clonometer.views.gaps import ablation_table, fit_tables
from clonometer.views.scans import scan_panel
from clonometer.views.table import Table

# Of a run that has nothing but curves, as many tables as a terminal has room for.
_MOST_TABLES = 2


def _fits(results: Results) -> list[Row]:
    panels = [
        Panel(f"fit-{number}", title, alt(f"Time by {panel.x.title}", panel.points), partial(scan_panel, panel))
        for number, (title, panel) in enumerate(fitted_charts(results.scans, results.fits))
    ]
    return [Row(panels, columns=2)] if panels else []


def _ablations(results: Results) -> list[Row]:
    rows = []
    for number, ablation in enumerate(results.ablations):
        words = alt("The gap by what was taken away", ablation_points(ablation))
        draw = partial(ablation_panel, ablation)
        rows.append(Row([Panel(f"ablation-{number}", ablation_title(ablation), words, draw, tall=False)]))
    return rows


def _ablation_tables(results: Results) -> list[Table]:
    return [ablation_table(ablation) for ablation in results.ablations]


def _ablations_sum_up(results: Results, workloads: Set[str]) -> list[Table]:
    rungs_alone = {ablation.workload for ablation in results.ablations} == workloads
    return _ablation_tables(results) if rungs_alone else []


def _fits_sum_up(results: Results, workloads: Set[str]) -> list[Table]:
    points_alone = {fit.workload for fit in results.fits} == workloads
    return fit_tables(results.fits)[:_MOST_TABLES] if points_alone else []


FIGURES = (
    Figure(
        40,
        "ablation",
        "a gap as shared things are removed",
        "threads and processes under conditions that differ one by one (the plan work-ablation has)",
        "What is the gap between threads and processes made of?",
        answered_by("ablation"),
        _ablations,
        Section(
            "What the gap is made of",
            "The gap",
            "Each line removes one more thing that threads share, in addition to those above. What is left on "
            "the last line is unexplained. Ratios of medians with 95% intervals; 1× is no gap.",
        ),
        _ablation_tables,
        _ablations_sum_up,
    ),
    Figure(
        50,
        "fit",
        "workers, and curves",
        "scan of workers or their numbers (the plans work-ops and work-workers have)",
        "How does the time grow with the work?",
        answered_by("workers"),
        _fits,
        Section(
            "Workers, and curves through them",
            "Workers",
            "Whole programs whose workers compute and write. Medians of processes with 95% intervals; dashed curves "
            "are fitted by weighted least squares.",
        ),
        lambda results: fit_tables(results.fits),
        _fits_sum_up,
    ),
)
