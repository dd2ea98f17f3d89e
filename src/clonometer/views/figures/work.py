"""Figures of whole programs with workers: what is left of a gap, and curves."""

from __future__ import annotations

from functools import partial

from clonometer.results.types import Results
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, in_rows
from clonometer.views.fitted import ablation_panel, ablation_points, ablation_title, fitted_charts, fitted_panel
from clonometer.views.gaps import ablation_table, fit_tables
from clonometer.words import axis_title


def _fits(results: Results) -> list[Row]:
    panels = [
        Panel(
            f"fit-{number}",
            chart.title,
            alt(f"Time by {axis_title(chart.axis)}", chart.points),
            partial(fitted_panel, chart),
        )
        for number, chart in enumerate(fitted_charts(results.scans, results.fits))
    ]
    return in_rows(panels, 2)


def _ablations(results: Results) -> list[Row]:
    rows = []
    for number, one in enumerate(results.ablations):
        points = ablation_points(one)
        words = alt("The gap by what was taken away", points)
        draw = partial(ablation_panel, points)
        rows.append(Row([Panel(f"ablation-{number}", ablation_title(one), words, draw, tall=False)]))
    return rows


FIGURES = (
    Figure(
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
        lambda results: [ablation_table(one) for one in results.ablations],
    ),
    Figure(
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
        lambda results: fit_tables(results.fits),
        own_colours=True,
    ),
)
