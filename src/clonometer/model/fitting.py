"""Fits the cost models to the conditions of a run: non-negative least squares of relative errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clonometer.errors import InputError
from clonometer.model.calibration import CostModel, Residual
from clonometer.model.features import Features
from clonometer.model.terms import LINEAR, PAGES, Floats, design_row, small_pages, term_counts
from clonometer.stats.nonnegative import nonnegative_least_squares

DRAWS = 60
#: The standard deviation of normal values for each unit of their median absolute deviation.
_MAD_TO_SIGMA = 1.4826
#: A piece of the curve ends at a measured number of pages, each at least so many times the one before.
_KNOT_RATIO = 3.0
#: Memory is dense if it has more pages than this in each area: then pages are most of what is measured.
_DENSE = 100


@dataclass(frozen=True)
class Observation:
    """A condition of a fit: what the process had, and for each process its calls in ns."""

    name: str
    features: Features
    calls: Sequence[Floats]

    @property
    def medians(self) -> Floats:
        """Of each process; shape (processes,)."""
        return np.array([np.median(calls) for calls in self.calls])


def fit_model(observations: Sequence[Observation], *, seed: int, draws: int = DRAWS) -> CostModel:
    """Fit a cost model.

    Parameters
    ----------
    observations
        At least one, with at least one process each.
    seed
        Fixes the bootstrap.

    Returns
    -------
    CostModel
        Of the terms of which any observation has more than the others.

    Raises
    ------
    InputError
        If there is nothing to fit to.

    Notes
    -----
    Each condition counts by the median over its processes of their medians. What is made least is the sum of the
    squares of the fit's relative errors: a fork of 50 us counts as much as one of 50 ms. Coefficients are not negative,
    so that the curve over pages rises. The draws are the same fit to conditions whose processes were drawn again
    (Davison and Hinkley, "Bootstrap methods and their application", section 6.2: cases).
    """
    if not observations:
        raise InputError("nothing was measured that a cost model could be fitted to")
    terms = _varying_terms(observations)
    knots = _knots(observations)
    design = np.array([design_row(each.features, terms, knots) for each in observations])
    medians = [each.medians for each in observations]
    values = np.array([np.median(processes) for processes in medians])
    each_ns = _relative_fit(design, values)
    random = np.random.default_rng(seed)
    drawn = [
        _relative_fit(design, np.array([np.median(random.choice(group, group.size)) for group in medians]))
        for _ in range(draws)
    ]
    fitted = design @ each_ns
    return CostModel(
        terms=tuple(terms),
        most=tuple(max(term_counts(each.features)[term] for each in observations) for term in (*terms, PAGES)),
        knots=tuple(knots),
        each_ns=tuple(each_ns.tolist()),
        draws_ns=tuple(tuple(draw.tolist()) for draw in drawn),
        misfit=_misfit(fitted, values, int(np.count_nonzero(each_ns))),
        scatter=_scatter(observations),
        residuals=tuple(
            Residual(each.name, float(value), float(fit), float(small_pages(each.features)))
            for each, value, fit in zip(observations, values, fitted, strict=True)
        ),
    )


def _relative_fit(design: Floats, values: Floats) -> Floats:
    return nonnegative_least_squares(design / values[:, np.newaxis], np.ones_like(values))


def _varying_terms(observations: Sequence[Observation]) -> list[str]:
    """The base, and every term of which not all observations have the same."""
    counts = [term_counts(each.features) for each in observations]
    varying = [term.name for term in LINEAR[1:] if len({entry[term.name] for entry in counts}) > 1]
    return [LINEAR[0].name, *varying]


def _knots(observations: Sequence[Observation]) -> list[float]:
    """Where pieces of the curve end: at the sizes of dense memory that were measured, but for the largest."""
    dense = [each.features for each in observations if is_dense(each.features)]
    knots: list[float] = []
    for size in sorted({small_pages(features) for features in dense}):
        if size >= _KNOT_RATIO * (knots[-1] if knots else 1.0):
            knots.append(float(size))
    return knots[:-1]


def is_dense(features: Features) -> bool:
    """Whether small pages are most of what a process has."""
    return features.anon_pages > _DENSE * features.anon_areas


def _misfit(fitted: Floats, values: Floats, coefficients: int) -> float:
    logs = np.log(np.maximum(fitted, 1.0) / values)
    # As many conditions as coefficients would fit anything.
    freedom = max(1, values.size - coefficients)
    return float(math.sqrt(np.sum(logs**2) / freedom))


def _scatter(observations: Sequence[Observation]) -> float:
    """How far single calls lie from their condition's median: the middle one of the conditions' spreads."""
    spreads = []
    for each in observations:
        logs = np.log(np.concatenate(each.calls))
        spreads.append(_MAD_TO_SIGMA * float(np.median(np.abs(logs - np.median(logs)))))
    return float(np.median(spreads))
