"""Fits the cost models to the conditions of a run: non-negative least squares of relative errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clonometer.errors import InputError
from clonometer.model.calibration import CostModel, Residual
from clonometer.model.features import Features
from clonometer.model.terms import LINEAR, PAGES, SCATTERED, design_row, term_counts, touched_bytes
from clonometer.model.types import NINE_IN_TEN
from clonometer.stats.nonnegative import nonnegative_least_squares
from clonometer.stats.quantiles import Floats

Indices = NDArray[np.intp]

DRAWS = 60
#: After so many the coefficients hardly move any more. No step begins further from what was measured.
_STEPS, _LEAST_PART = 5, 0.1
_HELD = 0.9
#: Scattered pages have a time at each amount of memory that was measured with them, if so many times the one before.
_KNOT_RATIO = 2.0
#: In such processes pages are most of what is measured, and nearly all of them are scattered.
_DENSE, _SCATTERED_PART = 100, 0.8
#: What calls that copy no memory take for their largest condition is nothing, unless it is surely more than this part.
_LEAST_EFFECT, _LOW_END = 0.05, 0.025
#: What the kernel does not touch where memory is not copied: CLONE_VM shares the page tables whole.
_OF_MEMORY = (PAGES, "page tables", SCATTERED)


@dataclass(frozen=True)
class Observation:
    """A process that was measured: its condition, what it had, and its calls in ns; shape (calls,), at least one."""

    condition: str
    features: Features
    calls: Floats


def middle(values: Floats) -> float:
    """The mean of the middle half: forks have two states, by the CPU that they run on, and a median jumps between them.

    Examples
    --------
    >>> middle(np.array([1.0, 2.0, 4.0, 100.0]))
    3.0
    """
    rising = np.sort(values)
    left = rising.size // 4
    return float(np.mean(rising[left : rising.size - left]))


def fit_model(
    observations: Sequence[Observation],
    *,
    seed: int,
    caches_are_hot: bool = False,
    copies_memory: bool = True,
    draws: int = DRAWS,
) -> CostModel:
    """Fit a cost model of the terms of which any observation has more than the others; ``seed`` fixes the bootstrap.

    Where ``caches_are_hot`` what a scattered page costs depends on how much is touched: what fits a cache is in it.
    With cold caches it has one price.

    A call that does not copy memory (``copies_memory``) has no time for pages and page tables, whatever was measured: a
    few processes beside other work seem to have one, which would be minutes of nothing for a process that is large
    enough. Nor has it one for what cannot be told from none. What was left out is named.

    Raises
    ------
    InputError
        If there is nothing to fit to.

    Notes
    -----
    Each process counts by the middle of its calls' logarithms. What is made least is the sum of the squares of the
    errors' logarithms: a fork of 50 us counts as much as one of 50 ms, and twice as long as much as half as long.
    (Errors as shares of what was measured pull a fit to short times.) Coefficients are not negative. The draws are
    the same fit to processes that were drawn again, condition by condition (Davison and Hinkley, "Bootstrap methods and
    their application", section 6.2: cases).
    """
    if not observations:
        raise InputError("nothing was measured that a cost model could be fitted to")
    terms = _varying_terms(observations)
    knots = _knots(observations)[: None if caches_are_hot else 1]
    fitted = _fitted(observations, terms, knots, seed=seed, draws=draws)
    flat = [] if copies_memory else _flat_terms(observations, fitted)
    if not flat:
        return fitted
    kept = [term for term in terms if term not in flat]
    return replace(
        _fitted(observations, kept, [] if SCATTERED in flat else knots, seed=seed, draws=draws), flat=tuple(flat)
    )


def _flat_terms(observations: Sequence[Observation], fitted: CostModel) -> list[str]:
    """The terms of memory, and those that at the highest count measured are not surely above what could be seen."""
    base_ns = fitted.each_ns[0]
    rows = [design_row(each.features, fitted.terms, fitted.knots) for each in observations]
    above = np.max(rows, axis=0) - np.min(rows, axis=0)
    effects = np.asarray(fitted.draws_ns) * above
    names = [*fitted.terms, *[SCATTERED] * len(fitted.knots)]
    flat = [
        name
        for place, name in enumerate(names[1:], 1)
        if name in _OF_MEMORY or np.quantile(effects[:, place], _LOW_END) < _LEAST_EFFECT * base_ns
    ]
    return list(dict.fromkeys(flat))


def _fitted(
    observations: Sequence[Observation], terms: Sequence[str], knots: Sequence[float], *, seed: int, draws: int
) -> CostModel:
    """Fit the times of these terms, with a bootstrap."""
    design = np.array([design_row(each.features, terms, knots) for each in observations])
    values = np.exp([middle(np.log(each.calls)) for each in observations])
    groups = [
        np.array([index for index, each in enumerate(observations) if each.condition == condition])
        for condition in dict.fromkeys(each.condition for each in observations)
    ]
    each_ns = _relative_fit(design, values)
    expected = np.maximum(design @ each_ns, _LEAST_PART * values)
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(draws):
        chosen = np.concatenate([random.choice(group, group.size) for group in groups])
        drawn.append(_step(design[chosen], values[chosen], expected[chosen]))
    residuals = [_residual(observations, group, values, design @ each_ns) for group in groups]
    return CostModel(
        terms=tuple(terms),
        most=tuple(max(term_counts(each.features)[term] for each in observations) for term in (*terms, SCATTERED)),
        knots=tuple(knots),
        each_ns=tuple(each_ns.tolist()),
        draws_ns=tuple(tuple(draw.tolist()) for draw in drawn),
        misfit=_misfit(residuals, int(np.count_nonzero(each_ns))),
        scatter=_scatter(observations, groups, np.maximum(design @ each_ns, 1.0)),
        residuals=tuple(residuals),
    )


def _relative_fit(design: Floats, values: Floats) -> Floats:
    """Make the squares of the errors' logarithms least, step by step from what the fit before expected."""
    expected = values
    for _ in range(_STEPS):
        expected = np.maximum(design @ _step(design, values, expected), _LEAST_PART * values)
    return _step(design, values, expected)


def _step(design: Floats, values: Floats, expected: Floats) -> Floats:
    # Near what is expected a logarithm is a straight line (Gauss and Newton).
    return nonnegative_least_squares(design / expected[:, np.newaxis], 1 + np.log(values / expected))


def _varying_terms(observations: Sequence[Observation]) -> list[str]:
    """The base, and every term of which not all observations have the same."""
    counts = [term_counts(each.features) for each in observations]
    base, *others = LINEAR
    return [base, *(term for term in others if len({entry[term] for entry in counts}) > 1)]


def _knots(observations: Sequence[Observation]) -> list[float]:
    """How much memory is touched where scattered pages were measured."""
    knots: list[float] = []
    for touched in sorted(touched_bytes(each.features) for each in observations if _is_scattered(each.features)):
        if not knots or touched >= _KNOT_RATIO * knots[-1]:
            knots.append(touched)
    return knots


def _is_scattered(features: Features) -> bool:
    counts = term_counts(features)
    dense = features.anon_pages > _DENSE * features.anon_areas
    return dense and counts[SCATTERED] > _SCATTERED_PART * features.anon_pages


def _residual(observations: Sequence[Observation], group: Indices, values: Floats, fitted: Floats) -> Residual:
    measured, fit = (float(np.exp(np.mean(np.log(np.maximum(times[group], 1.0))))) for times in (values, fitted))
    return Residual(observations[group[0]].condition, measured, fit)


def _misfit(residuals: Sequence[Residual], coefficients: int) -> float:
    logs = np.log([max(each.fitted_ns, 1.0) / each.measured_ns for each in residuals])
    # As many conditions as coefficients would fit anything.
    return float(math.sqrt(np.sum(logs**2) / max(1, logs.size - coefficients)))


def _scatter(observations: Sequence[Observation], groups: Sequence[Indices], fitted: Floats) -> float:
    """How far single calls lie from what their condition takes: a normal spread that holds nine in ten as they do.

    What the fit misses of a condition is no scatter. Every condition counts alike, the steady and the unsteady ones: a
    prediction is for any of them.
    """
    apart, weights = [], []
    for group in groups:
        logs = np.concatenate([np.log(observations[place].calls / fitted[place]) for place in group])
        apart.append(np.abs(logs - middle(logs)))
        weights.append(np.full(logs.size, 1 / logs.size))
    rising = np.argsort(distances := np.concatenate(apart))
    reached = np.cumsum(np.concatenate(weights)[rising]) / len(groups)
    return float(distances[rising][np.searchsorted(reached, _HELD)]) / NINE_IN_TEN
