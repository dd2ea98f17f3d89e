"""The process that a reader of the page about forks sets with sliders, or changes from a saved profile: its counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

from clonometer.model.features import HUGE_PAGE_BYTES, PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features
from clonometer.model.later import PageShare, RewrittenShare
from clonometer.records import Count, OneOf, Positive

#: What a small program has (counted in `sleep` of coreutils), with its three standard files.
SMALL_PROGRAM = Features(
    anon_areas=11, anon_pages=27, anon_tables=3, empty_areas=3, file_areas=21, shared_areas=1, open_files=3, threads=1
)
_SCALED = (
    "anon_pages",
    "anon_tables",
    "placed_pages",
    "scattered_pages",
    "huge_pages",
    "hugetlb_pages",
    "swapped_pages",
)


@dataclass(frozen=True)
class ForkShape:
    """What a reader sets; None: as the profile has it, or for a made process the least."""

    memory_bytes: Annotated[Count | None, "Private memory that was written to."] = None
    pages: Annotated[str, OneOf(("given", "small", "huge")), "given: small ones, or as in the profile."] = "given"
    threads: Positive | None = None
    areas: Annotated[Positive | None, "Areas that a made process's memory lies in."] = None
    open_files: Count | None = None
    placement: Annotated[
        str, OneOf(("given", "contiguous", "scattered")), "Of page frames; given: not known, or as in the profile."
    ] = "given"
    rewritten: Annotated[PageShare, "Share of the memory written to since the last fork."] = 1.0
    copied: Annotated[PageShare, "Share of the memory that the parent writes to while the child lives."] = 0.0

    @property
    def share(self) -> RewrittenShare:
        """What was rewritten, as a prediction takes it."""
        return RewrittenShare(self.rewritten, self.rewritten, self.rewritten, "given")


def private_bytes(features: Features) -> int:
    """The memory that a fork copies entries of."""
    small = features.anon_pages + features.swapped_pages
    huge = features.huge_pages * HUGE_PAGE_BYTES + features.hugetlb_pages * features.hugetlb_page_bytes
    return small * SMALL_PAGE_BYTES + huge


def made_features(shape: ForkShape) -> Features:
    """A small program that has filled so much memory, with that many threads, each with a stack."""
    pages, further = (shape.memory_bytes or 0) // SMALL_PAGE_BYTES, (shape.threads or 1) - 1
    huge = pages // PAGES_OF_HUGE if shape.pages == "huge" else 0
    small = pages - huge * PAGES_OF_HUGE
    areas = min(shape.areas or 1, small + huge)
    base = SMALL_PROGRAM
    return replace(
        base,
        anon_areas=base.anon_areas + areas + further,
        anon_pages=base.anon_pages + small + further,
        anon_tables=base.anon_tables + -(-small // PAGES_OF_HUGE) + further,
        empty_areas=base.empty_areas + further,
        huge_pages=huge,
        open_files=base.open_files if shape.open_files is None else shape.open_files,
        threads=1 + further,
    )


def changed_features(features: Features, could_be_huge: int, shape: ForkShape) -> Features:
    """A profile's process with what was set; ``could_be_huge`` is how many huge pages its small ones would fill."""
    if shape.memory_bytes is not None and (whole := private_bytes(features)):
        ratio = shape.memory_bytes / whole
        features = replace(features, **{name: _rounded(getattr(features, name) * ratio) for name in _SCALED})
        could_be_huge = _rounded(could_be_huge * ratio)
    if shape.pages == "huge":
        features = with_huge_pages(features, could_be_huge)
    elif shape.pages == "small":
        features = without_huge_pages(features)
    return replace(
        features,
        threads=features.threads if shape.threads is None else shape.threads,
        open_files=features.open_files if shape.open_files is None else shape.open_files,
    )


def shaped(shape: ForkShape, profile: Features | None = None, could_be_huge: int = 0) -> Features:
    """The counts of the process that is asked about."""
    features = made_features(shape) if profile is None else changed_features(profile, could_be_huge, shape)
    if shape.placement == "given":
        return features
    placed = features.anon_pages
    return replace(features, placed_pages=placed, scattered_pages=placed if shape.placement == "scattered" else 0)


def with_huge_pages(features: Features, could_be_huge: int) -> Features:
    """The same process, of whose small pages that many huge ones are made, as far as it has them."""
    huge = min(could_be_huge, features.anon_pages // PAGES_OF_HUGE)
    small = features.anon_pages - huge * PAGES_OF_HUGE
    return replace(
        features,
        anon_pages=small,
        huge_pages=features.huge_pages + huge,
        anon_tables=max(0, min(small, features.anon_tables - huge)),
    )


def without_huge_pages(features: Features) -> Features:
    """The same process with small pages only."""
    return replace(
        features,
        anon_pages=features.anon_pages + features.huge_pages * PAGES_OF_HUGE,
        huge_pages=0,
        anon_tables=features.anon_tables + features.huge_pages,
    )


def _rounded(number: float) -> int:
    # As scripts round, so that both give the same.
    return math.floor(number + 0.5)
