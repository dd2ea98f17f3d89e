"""What copying on write costs after a fork: at worst, and at a rate of writing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from clonometer.model.features import PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features
from clonometer.model.later import UNKNOWN_SHARE, RewrittenShare
from clonometer.model.types import CostRange
from clonometer.records import Count, Ge, OneOf


@dataclass(frozen=True)
class WriteRate:
    """How fast a process writes to memory that it has not touched since the fork."""

    bytes_per_s: Annotated[float, Ge(0)]
    source: Annotated[str, OneOf(("given", "measured", "touched"))] = "given"
    #: For how long it was measured; None where it was given.
    measured_s: float | None = None


@dataclass(frozen=True)
class Copying:
    """What copying on write costs after a fork."""

    copied_at_worst_bytes: Annotated[Count, "Memory if every page is written to while the child lives."]
    worst_ns: Annotated[float | None, Ge(0), "Time that this costs the writers; null where this machine has no figure."]
    per_page_ns: Annotated[float | None, Ge(0), "A first write of the parent to a small page: its median."]
    per_huge_page_ns: Annotated[float | None, Ge(0), "Writes to all of a huge page."]
    write_rate_bytes_per_s: Annotated[float | None, Ge(0), "Null where none was given or measured."]
    rate_source: Annotated[
        str | None,
        OneOf(("given", "measured", "touched")),
        "touched: pages read or written, so that the rate is an upper bound.",
    ]
    child_lives_s: Annotated[float, Ge(0), "How long the child is assumed to live."]
    copied_expected_bytes: Annotated[Count | None, "Memory at that rate; null without a rate."]
    expected_ns: Annotated[float | None, Ge(0), "Time that this costs the writers at that rate."]


def judge_copying(
    features: Features, costs: Mapping[str, CostRange], rate: WriteRate | None, child_lives_s: float
) -> Copying:
    """Say what copying on write costs at worst and as expected.

    Notes
    -----
    Writes are taken to fall on any page alike: of ``N`` pages ``N (1 - exp(-R t / N))`` are written to within ``t`` at
    ``R`` pages a second. That is close to ``R t`` while few are, and never more than all.
    """
    small = features.anon_pages
    small_of_huge = features.huge_pages * PAGES_OF_HUGE
    worst_bytes = (small + small_of_huge) * SMALL_PAGE_BYTES + features.hugetlb_pages * features.hugetlb_page_bytes
    page_ns, huge_ns = (
        costs[name].median_ns if name in costs else None for name in ("parent_small", "parent_huge_all")
    )
    if features.huge_pages and huge_ns is None and page_ns is not None:
        # A huge page is split, and its small pages are copied as they are written.
        huge_ns = page_ns * PAGES_OF_HUGE
    worst_ns = None if page_ns is None else small * page_ns + features.huge_pages * (huge_ns or 0.0)
    share = None if rate is None else share_written(rate.bytes_per_s, small + small_of_huge, child_lives_s)
    return Copying(
        copied_at_worst_bytes=worst_bytes,
        worst_ns=worst_ns,
        per_page_ns=page_ns,
        per_huge_page_ns=huge_ns if features.huge_pages else None,
        write_rate_bytes_per_s=None if rate is None else rate.bytes_per_s,
        rate_source=None if rate is None else rate.source,
        child_lives_s=child_lives_s,
        copied_expected_bytes=None if share is None else round(share * worst_bytes),
        expected_ns=None if share is None or worst_ns is None else share * worst_ns,
    )


def rewritten_share(features: Features, rate: WriteRate | None, forks_every_s: float | None) -> RewrittenShare:
    """Say which share of the pages is written to between two forks, as far as it can be known.

    Notes
    -----
    At a given rate writes are taken to fall on any page alike (`share_written`). Measured is the share within a time.
    In twice that time at least as much is written to, and at most twice as much, whichever pages a process prefers: a
    share that is expected rises ever more slowly. So the interval between forks gives a span, which is a point where
    it was measured for just that time. Touched pages are an upper bound.
    """
    pages = features.anon_pages + features.huge_pages * PAGES_OF_HUGE
    if rate is None or forks_every_s is None or not pages:
        return UNKNOWN_SHARE
    likely = share_written(rate.bytes_per_s, pages, forks_every_s)
    if rate.measured_s is None:
        return RewrittenShare(likely, likely, likely, rate.source)
    seen = share_written(rate.bytes_per_s, pages, rate.measured_s)
    in_proportion = min(1.0, seen * forks_every_s / rate.measured_s)
    low, high = sorted((seen, in_proportion))
    if rate.source == "touched":
        return RewrittenShare(0.0, high, high, rate.source)
    return RewrittenShare(low, min(max(likely, low), high), high, rate.source)


def share_written(bytes_per_s: float, pages: int, seconds: float) -> float:
    """The share of pages that are written to within a time.

    Examples
    --------
    >>> round(share_written(4096 * 100, 100, 1.0), 3), share_written(1e9, 0, 1.0)
    (0.632, 0.0)
    """
    return 1.0 - math.exp(-bytes_per_s / SMALL_PAGE_BYTES * seconds / pages) if pages else 0.0


def rate_of(written_pages: int, pages: int, seconds: float) -> float:
    """The rate of writing, in bytes a second, at which so many different pages are written to within a time.

    The reverse of `share_written`; where all were written to, the rate is at least what it gives.

    Examples
    --------
    >>> rate_of(0, 100, 1.0), round(rate_of(63, 100, 1.0) / 4096)
    (0.0, 99)
    """
    if not pages or not written_pages:
        return 0.0
    # Of all pages half a page less: the logarithm of nothing has no value.
    share = min(written_pages, pages - 0.5) / pages
    return -pages / seconds * math.log1p(-share) * SMALL_PAGE_BYTES
