"""The terms of a call's cost, each by what the kernel does: how many of each a process has.

Every call's cost is a sum: a count times a time for each linear term, and for the scattered pages, where caches are
hot, a time that depends on how much memory the call touches: what fits a cache is fetched from there. docs/predict.md
names the kernel's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from clonometer.model.features import Features
from clonometer.stats.quantiles import Floats

PAGES = "small pages"
SCATTERED = "scattered pages"
#: Of pages whose frames could not be seen, such a part is taken to be scattered; it may be none or all of them.
_UNSEEN_PART = 0.5
#: What a fork reads and writes, in bytes, for a small page (its descriptor, struct page), for a page table (that of the
#: parent and that of the child) and for a copied area (both areas, and what links them with their pages).
_DESCRIPTOR_BYTES, _TABLES_BYTES, _AREA_BYTES = 64, 2 * 4096, 500


def small_pages(features: Features) -> int:
    """The entries that fork copies one by one; an entry of a swapped page is copied like that of a present one."""
    return features.anon_pages + features.swapped_pages


#: The linear terms, the base first: the name for readers, and how many of it a process has.
LINEAR: Mapping[str, Callable[[Features], float]] = {
    "base": lambda features: 1.0,
    PAGES: small_pages,
    "page tables": lambda features: features.anon_tables,
    "written areas": lambda features: features.anon_areas,
    "empty areas": lambda features: features.empty_areas + features.wipeonfork_areas,
    "file and shared areas": lambda features: features.file_areas + features.shared_areas,
    "areas kept from children": lambda features: features.dontfork_areas,
    "huge pages": lambda features: features.huge_pages,
    "hugetlb pages": lambda features: features.hugetlb_pages,
    "open files": lambda features: features.open_files,
    "further threads": lambda features: max(0, features.threads - 1),
    "having threads": lambda features: 1.0 if features.threads > 1 else 0.0,
    "userfaultfd areas": lambda features: features.uffd_areas,
}


def scattered_pages(features: Features) -> float:
    """The small pages whose frame lies apart from that of the page before; a part where frames were not seen."""
    if not features.placed_pages:
        return _UNSEEN_PART * small_pages(features)
    return small_pages(features) * features.scattered_pages / features.placed_pages


def touched_bytes(features: Features) -> float:
    """How much memory a fork touches, roughly: it decides from which cache things come."""
    copied = 2 * features.anon_areas + features.empty_areas + features.wipeonfork_areas + features.dontfork_areas
    areas = copied + features.file_areas + features.shared_areas
    return _DESCRIPTOR_BYTES * small_pages(features) + _TABLES_BYTES * features.anon_tables + _AREA_BYTES * areas


def term_counts(features: Features) -> dict[str, float]:
    """Count every term of a process, the scattered pages last."""
    return {**{term: float(count(features)) for term, count in LINEAR.items()}, SCATTERED: scattered_pages(features)}


def tents(touched: float, knots: Sequence[float]) -> Floats:
    """Weigh the times of a scattered page at the knots, for so much touched memory: linear in its logarithm.

    ``touched`` and the knots are in bytes; the knots are above 0, and rise.

    Returns
    -------
    ndarray of float64
        Shape (knots,), which add up to 1; beyond its ends the curve is flat.

    Examples
    --------
    >>> tents(2.0, [1.0, 4.0, 16.0]).tolist()
    [0.5, 0.5, 0.0]
    """
    if not len(knots):
        return np.zeros(0)
    logs = np.log(np.asarray(knots, dtype=np.float64))
    place = float(np.clip(np.log(max(touched, 1.0)), logs[0], logs[-1]))
    return np.array([np.interp(place, logs, corner) for corner in np.eye(logs.size)])


def design_row(features: Features, terms: Sequence[str], knots: Sequence[float]) -> Floats:
    """Make the row of a linear model: the counts of ``terms``, then the scattered pages, shared out among the knots."""
    counts = term_counts(features)
    scattered = counts[SCATTERED] * tents(touched_bytes(features), knots)
    return np.array([*(counts[term] for term in terms), *scattered], dtype=np.float64)
