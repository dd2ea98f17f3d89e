"""Parts of a difference that was measured in pairs: their shares, and what a covariate adds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import percentile_interval, percentile_intervals, places_drawn
from clonometer.stats.quantiles import finite_values

_METHOD = "bootstrap over pairs of processes, percentile"


def shares_of_mean(parts: ArrayLike, whole: ArrayLike, *, seed: int) -> list[Interval]:
    """Mean of each part over the mean of the whole.

    Parameters
    ----------
    parts
        Shape (pairs, parts), finite.
    whole
        Shape (pairs,), finite, with a mean that is not 0 (best one that is well away from it).
    seed
        As in `clonometer.stats.means.mean_intervals`.

    Returns
    -------
    list of Interval
        One for each part; where parts sum to the whole, values sum to 1. Draws in which the whole has the other sign
        are divided by its own mean instead.

    Raises
    ------
    ValueError
        If shapes do not fit or the whole's mean is 0.

    Examples
    --------
    >>> [share.value for share in shares_of_mean([[1.0, 3.0]] * 6, [4.0] * 6, seed=1)]
    [0.25, 0.75]
    """
    table = np.asarray(parts, dtype=np.float64)
    base = finite_values(whole, "the whole")
    if table.ndim != 2 or table.shape[0] != base.size or not np.isfinite(table).all():
        raise ValueError(f"a row of parts for each of {base.size} pairs, not shape {table.shape}")
    mean = float(base.mean())
    if mean == 0:
        raise ValueError("there are no shares of nothing")
    chosen = places_drawn(base.size, np.random.default_rng(seed))
    bases = base[chosen].mean(axis=1)
    bases = np.where(np.sign(bases) == np.sign(mean), bases, mean)
    drawn = table[chosen].mean(axis=1) / bases[:, None]
    return percentile_intervals(table.mean(axis=0) / mean, drawn, base.size, _METHOD)


def covariate_effect(
    products: ArrayLike, squares: ArrayLike, differences: ArrayLike, *, seed: int
) -> tuple[Interval, Interval] | None:
    """Slope of a quantity on a covariate within groups, and what the sides' difference in the covariate makes of it.

    Parameters
    ----------
    products, squares
        Shape (pairs,): sums, over a pair's groups, of products of both deviations from the group's means, and of the
        covariate's squared deviations.
    differences
        Shape (pairs,): the covariate's mean on the first side less that on the second.
    seed
        As in `shares_of_mean`.

    Returns
    -------
    (slope, effect) or None
        The slope is that of least squares pooled over all groups; the effect the slope times the mean difference, both
        resampled together. None where the covariate never differs within a group.

    Notes
    -----
    The within estimator of analysis of covariance: what all of a group share drops out (W. G. Cochran, Biometrics 13
    (1957) 261-281). It misleads where the quantity causes the covariate.

    Examples
    --------
    >>> slope, effect = covariate_effect([10.0] * 6, [5.0] * 6, [3.0] * 6, seed=1)
    >>> slope.value, effect.value
    (2.0, 6.0)
    """
    xy, xx = finite_values(products, "products"), finite_values(squares, "squares")
    gaps = finite_values(differences, "differences")
    if not xy.size == xx.size == gaps.size:
        raise ValueError(f"{xy.size} products, {xx.size} squares, {gaps.size} differences")
    if xx.sum() <= 0:
        return None
    chosen = places_drawn(xy.size, np.random.default_rng(seed))
    sums = xx[chosen].sum(axis=1)
    slope = float(xy.sum() / xx.sum())
    slopes = np.where(sums > 0, xy[chosen].sum(axis=1) / np.where(sums > 0, sums, 1.0), slope)
    effects = slopes * gaps[chosen].mean(axis=1)
    return (
        percentile_interval(slope, slopes, xy.size, _METHOD),
        percentile_interval(slope * float(gaps.mean()), effects, xy.size, _METHOD),
    )
