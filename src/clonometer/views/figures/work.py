"""Figures of whole programs with workers: what is left of a gap, and curves."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from clonometer.results.series.types import AblationSeries, FitSeries
from clonometer.results.types import Results
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, in_rows
from clonometer.views.fitted import ablation_panel, ablation_points, ablation_title, fitted_charts, fitted_panel
from clonometer.views.gaps import ablation_table, fit_tables
from clonometer.views.table import Table
from clonometer.words import axis_title

# Of a run that has nothing but curves, as many tables as a terminal has room for.
_MOST_TABLES = 2


def _fits(results: Results) -> list[Row]:
    panels = [
        Panel(
            f"fit-{number}",
            chart.title,
            alt(f"Time by {axis_title(chart.axis)}", chart.points),
            partial(fitted_panel, chart),
        )
        for number, chart in enumerate(fitted_charts(results.scans, _fits_of(results)))
    ]
    return in_rows(panels, 2)


def _ablations(results: Results) -> list[Row]:
    rows = []
    for number, ablation in enumerate(_ablations_of(results)):
        points = ablation_points(ablation)
        words = alt("The gap by what was taken away", points)
        draw = partial(ablation_panel, points)
        rows.append(Row([Panel(f"ablation-{number}", ablation_title(ablation), words, draw, tall=False)]))
    return rows


def _ablation_tables(results: Results) -> list[Table]:
    return [ablation_table(ablation) for ablation in _ablations_of(results)]


def _ablations_sum_up(results: Results, workloads: Set[str]) -> list[Table]:
    rungs_alone = {ablation.workload for ablation in _ablations_of(results)} == workloads
    return _ablation_tables(results) if rungs_alone else []


def _fits_sum_up(results: Results, workloads: Set[str]) -> list[Table]:
    points_alone = {fit.workload for fit in _fits_of(results)} == workloads
    return fit_tables(_fits_of(results))[:_MOST_TABLES] if points_alone else []


def _ablations_of(results: Results) -> Sequence[AblationSeries]:
    return results.series.get("ablations", ())


def _fits_of(results: Results) -> Sequence[FitSeries]:
    return results.series.get("fits", ())


FIGURES = (
    Figure(
        40,
        "ablation",
        "a gap as shared things are taken away",
        "threads and processes under conditions that differ one by one (the plan work-ablation has)",
        _ablations,
        Section(
            "What the gap is made of",
            "The gap",
            "Each line takes one thing more away that threads share, and keeps what was taken before. What is left on "
            "the last line is unexplained. Differences of medians with 95% intervals; zero is no gap.",
        ),
        _ablation_tables,
        _ablations_sum_up,
    ),
    Figure(
        50,
        "fit",
        "workers, and curves",
        "scan of workers or their numbers (the plans work-ops and work-workers have)",
        _fits,
        Section(
            "Workers, and curves through them",
            "Workers",
            "Whole programs whose workers compute and write. Medians of processes with 95% intervals; dashed curves "
            "are fitted by weighted least squares.",
        ),
        lambda results: fit_tables(_fits_of(results)),
        _fits_sum_up,
        own_colours=True,
    ),
)
