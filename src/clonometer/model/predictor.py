"""From what a process has to what its fork costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration, CostModel
from clonometer.model.features import PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features
from clonometer.model.terms import (
    SCATTERED,
    design_row,
    scattered_pages,
    small_pages,
    tents,
    term_counts,
    touched_bytes,
)
from clonometer.model.types import (
    NINE_IN_TEN,
    SAME_MOMENT,
    UNSCALED,
    Contributor,
    CostRange,
    ForkCost,
    Prediction,
    Scale,
    Scales,
)
from clonometer.stats.quantiles import Floats

#: How many times the highest count that was measured a term may have before it is named as beyond.
FAR_BEYOND = 2.0
#: Upper levels of the page tables: one page for each GiB, and two more.
_UPPER_TABLES = 2


def predict(features: Features, calibration: Calibration, *, scales: Scales = UNSCALED) -> Prediction:
    """Predict what fork and its kin cost a process, at the machine's state of the moment."""
    models = calibration.models

    def cost(name: str) -> CostRange:
        return cost_of(features, models[name], scale_for(name, scales))

    return Prediction(
        fork=ForkCost(
            cost(names.FORK_FIRST),
            cost(names.FORK_UNWRITTEN),
            cost(names.FORK_FIRST_HOT),
            cost(names.FORK_UNWRITTEN_HOT),
        ),
        exit=cost(names.EXIT),
        exec=cost(names.EXEC),
        posix_spawn=cost(names.POSIX_SPAWN) if names.POSIX_SPAWN in models else None,
        vfork=cost(names.VFORK) if names.VFORK in models else None,
        page_tables_bytes=page_tables_bytes(features),
        cow={name: write.times(scales.cold.factor) for name, write in calibration.first_writes.items()},
        contributors=_contributors(features, calibration, scales.cold),
        beyond=_beyond(features, models[names.FORK_FIRST]),
        scales=scales,
    )


def scale_for(model: str, scales: Scales) -> Scale:
    """Choose the scale of the times that a model is of."""
    if model in names.WAITS:
        return scales.waits
    return scales.hot if model in names.HOT else scales.cold


def cost_of(features: Features, model: CostModel, scale: Scale = SAME_MOMENT) -> CostRange:
    """Predict one call: its median, and between which times nine in ten single calls lie.

    Notes
    -----
    On the logarithm, the variances add up of the coefficients (bootstrap), of what the model does not explain, of
    single calls about their median, of the scale, and of where pages lie if that could not be seen.
    """
    row = design_row(features, model.terms, model.knots)
    median = float(row @ np.asarray(model.each_ns)) * scale.factor
    if median <= 0:
        return CostRange(0.0, 0.0, 0.0)
    unseen = _unseen(features, model) * scale.factor / median
    variances = (_coefficients(row, model), model.misfit, model.scatter, scale.spread, unseen)
    deviation = math.sqrt(sum(each**2 for each in variances))
    ratio = math.exp(NINE_IN_TEN * deviation)
    return CostRange(median / ratio, median, median * ratio)


def _coefficients(row: Floats, model: CostModel) -> float:
    """The standard deviation of the logarithm of the fitted value."""
    if len(model.draws_ns) < 2:
        return 0.0
    drawn = np.asarray(model.draws_ns) @ row
    drawn = drawn[drawn > 0]
    return float(np.std(np.log(drawn), ddof=1)) if drawn.size > 1 else 0.0


def _unseen(features: Features, model: CostModel) -> float:
    """The standard deviation that unseen frames bring, in ns: from none to all of the pages may be scattered."""
    if features.placed_pages:
        return 0.0
    # That of an even distribution from none to all.
    return small_pages(features) * _scattered_ns(features, model) / math.sqrt(12)


def _scattered_ns(features: Features, model: CostModel) -> float:
    """What a scattered page costs more than another, in a process that touches so much."""
    times = np.asarray(model.each_ns[len(model.terms) :])
    return float(tents(touched_bytes(features), model.knots) @ times)


def page_tables_bytes(features: Features) -> int:
    """The page tables that a forked child needs: those of the copied pages, those kept for huge pages, upper levels."""
    tables = features.anon_tables + features.huge_pages
    return SMALL_PAGE_BYTES * (tables + -(-tables // PAGES_OF_HUGE) + _UPPER_TABLES) if tables else 0


def term_costs(features: Features, model: CostModel, scale: Scale = SAME_MOMENT) -> dict[str, float]:
    """The part of each term in a call's median, in ns; they add up to it."""
    counts = term_counts(features)
    each = dict(zip(model.terms, model.each_ns, strict=False)) | {SCATTERED: _scattered_ns(features, model)}
    return {term: counts[term] * ns * scale.factor for term, ns in each.items()}


def _contributors(features: Features, calibration: Calibration, scale: Scale) -> Sequence[Contributor]:
    counts = term_counts(features)
    first = term_costs(features, calibration.models[names.FORK_FIRST], scale)
    unwritten = term_costs(features, calibration.models[names.FORK_UNWRITTEN], scale)
    parts = [
        Contributor(term, counts[term], first.get(term, 0.0), unwritten.get(term, 0.0))
        for term in dict.fromkeys((*first, *unwritten))
        if counts[term] > 0
    ]
    return tuple(sorted(parts, key=lambda part: -part.first_ns))


def shares(
    mappings: Sequence[Features], whole: Features, calibration: Calibration, *, scale: Scale = SAME_MOMENT
) -> list[tuple[float, float]]:
    """Divide the cost of a fork among the mappings of a process.

    Gives for each what it adds to the medians of fork.first and fork.unwritten, in ns. The base, files and threads
    belong to none; the time of a scattered page is that of all that the ``whole`` process touches.
    """
    first, unwritten = (
        _part_costs(mappings, whole, calibration.models[name], scale)
        for name in (names.FORK_FIRST, names.FORK_UNWRITTEN)
    )
    return list(zip(first, unwritten, strict=True))


def _part_costs(mappings: Sequence[Features], whole: Features, model: CostModel, scale: Scale) -> list[float]:
    scattered_ns = _scattered_ns(whole, model) * scale.factor
    # In a mapping of which no frame was looked at, as many are scattered as in all.
    part = scattered_pages(whole) / max(1, small_pages(whole))
    parts = []
    for features in mappings:
        costs = term_costs(features, model, scale)
        scattered = scattered_pages(features) if features.placed_pages else part * small_pages(features)
        linear = sum(ns for term, ns in costs.items() if term not in ("base", SCATTERED))
        parts.append(linear + scattered * scattered_ns)
    return parts


def _beyond(features: Features, model: CostModel) -> tuple[str, ...]:
    counts = term_counts(features)
    most = dict(zip((*model.terms, SCATTERED), model.most, strict=True))
    beyond = [term for term, count in counts.items() if count > FAR_BEYOND * most.get(term, 0.0)]
    return (*beyond, "swapped pages") if features.swapped_pages else tuple(beyond)
