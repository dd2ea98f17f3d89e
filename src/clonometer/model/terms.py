"""The terms of a call's cost, each by what the kernel does: how many of each a process has.

Every call's cost is a sum: a count times a time for each linear term, and a curve over the small pages that are copied.
The curve is piecewise linear and rises: a page costs more where the descriptors of all pages no longer fit a cache, so
that no constant would do. docs/predict.md names the kernel's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clonometer.model.features import Features

Floats = NDArray[np.float64]

PAGES = "small pages"


@dataclass(frozen=True)
class CostTerm:
    """A linear term: its name for readers, and how many of it a process has."""

    name: str
    count: Callable[[Features], float]


LINEAR = (
    CostTerm("base", lambda features: 1.0),
    CostTerm("page tables", lambda features: features.anon_tables),
    CostTerm("written areas", lambda features: features.anon_areas),
    CostTerm("empty areas", lambda features: features.empty_areas + features.wipeonfork_areas),
    CostTerm("file and shared areas", lambda features: features.file_areas + features.shared_areas),
    CostTerm("areas kept from children", lambda features: features.dontfork_areas),
    CostTerm("huge pages", lambda features: features.huge_pages),
    CostTerm("hugetlb pages", lambda features: features.hugetlb_pages),
    CostTerm("open files", lambda features: features.open_files),
    CostTerm("further threads", lambda features: max(0, features.threads - 1)),
    CostTerm("having threads", lambda features: 1.0 if features.threads > 1 else 0.0),
    CostTerm("userfaultfd areas", lambda features: features.uffd_areas),
)


def small_pages(features: Features) -> int:
    """The entries that fork copies one by one; an entry of a swapped page is copied like that of a present one."""
    return features.anon_pages + features.swapped_pages


def term_counts(features: Features) -> dict[str, float]:
    """Count every term of a process, the small pages included."""
    return {**{term.name: float(term.count(features)) for term in LINEAR}, PAGES: float(small_pages(features))}


def segments(pages: float, knots: Sequence[float]) -> list[float]:
    """Divide a number of pages among the pieces of the curve.

    Parameters
    ----------
    pages
        From 0.
    knots
        Where a piece ends and the next begins, rising; the last piece has no end.

    Returns
    -------
    list of float
        ``len(knots) + 1`` numbers, which add up to ``pages``.

    Examples
    --------
    >>> segments(25, [10, 20])
    [10.0, 10.0, 5.0]
    """
    starts = [0.0, *knots]
    ends = [*knots, float("inf")]
    return [float(min(max(pages - start, 0.0), end - start)) for start, end in zip(starts, ends, strict=True)]


def design_row(features: Features, terms: Sequence[str], knots: Sequence[float]) -> Floats:
    """Make the row of a linear model: the counts of ``terms``, then the pieces of the curve."""
    counts = term_counts(features)
    return np.array([*(counts[term] for term in terms), *segments(counts[PAGES], knots)], dtype=np.float64)
