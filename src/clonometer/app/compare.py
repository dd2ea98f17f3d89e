"""``compare``: runs against a run, or cells of a run against each other."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.app.deciding import in_pairs
from clonometer.app.defaults import LEAST_EFFECT
from clonometer.app.shown import shown_as
from clonometer.app.sides import open_side
from clonometer.app.variance import read_variance, stored_variance
from clonometer.results.compare.comparison import compare_cells, compare_groups, compare_runs
from clonometer.results.compare.types import Compared

if TYPE_CHECKING:
    from clonometer.results.rows.run_estimates import RunEstimates

__all__ = ["compare", "compare_within"]


@shown_as("comparison", "comparison_document")
def compare(
    runs: Iterable[str | os.PathLike[str]],
    others: Iterable[str | os.PathLike[str]] = (),
    *,
    minimum_effect: float = LEAST_EFFECT,
    noise: str | None = None,
) -> Compared:
    """Compare runs with the first of them, cell by cell; or, where there are ``others``, these with the ``runs``.

    Parameters
    ----------
    runs, others
        Run files.
    minimum_effect
        The least change that a verdict is about, as a share.
    noise
        How much one row differs between two runs though nothing changed: a standard deviation such as ``1%``, a file of
        ``clonometer noise --json``, or a folder of three runs or more. By default what several runs a side say, or runs
        in the same folder; where nothing says it, these runs bound it.

    Raises
    ------
    RunFileError
        If one is not a sound run file.
    UsageError, InputError
        If ``noise`` is none of these.
    """
    given = read_variance(noise)
    bases, changed = ([open_side(Path(run)) for run in group] for group in (runs, others))
    variance = given or stored_variance([bases, changed] if changed else [[run] for run in bases])
    if not changed:
        compared = compare_runs(bases, minimum_effect=minimum_effect, variance=variance)
    else:
        compared = compare_groups(bases, changed, minimum_effect=minimum_effect, variance=variance)
    return _with_pairs(compared, bases[0])


@shown_as("comparison", "comparison_document")
def compare_within(
    run: str | os.PathLike[str], cells: str, others: str, *, minimum_effect: float = LEAST_EFFECT
) -> Compared:
    """Compare two groups of cells of one run, each given by a glob.

    Raises
    ------
    RunFileError
        If it is not a sound run file.
    UsageError
        If a glob matches nothing.
    """
    side = open_side(Path(run))
    return _with_pairs(compare_cells(side, cells, others, minimum_effect=minimum_effect), side)


def _with_pairs(compared: Compared, side: RunEstimates) -> Compared:
    """With what decides it, where something is open and can be decided here."""
    rows = (row for pair in compared.pairs if not pair.same_run for row in pair.rows)
    return replace(compared, in_pairs=in_pairs(side, rows))
