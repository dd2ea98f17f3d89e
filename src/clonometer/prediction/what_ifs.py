"""What would change the cost of a fork: the same process with other memory, other areas, another way to a child."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from clonometer.model.features import PAGES_OF_HUGE, Features
from clonometer.model.types import Prediction
from clonometer.prediction.fork_shape import with_huge_pages, without_huge_pages
from clonometer.prediction.profile import Profile
from clonometer.prediction.spans import PredictedTime
from clonometer.records import OneOf

#: A process that only starts others: an interpreter's, with nothing in it.
_HELPER = Features(
    anon_areas=40,
    anon_pages=1500,
    anon_tables=25,
    empty_areas=10,
    file_areas=80,
    file_pages=1000,
    open_files=10,
    threads=1,
)
_MANY_AREAS = 1000
_MANY_FILES = 1000
_MANY_ARENAS = 4
#: What does not change the cost by this share is not worth a line.
_LEAST_CHANGE = 0.02
#: How to see whether it is so, with memory that a machine can surely spare.
_SEEN_HERE = (
    " To see it here: clonometer ab fork --set parent_bytes=256MiB --a page_kind=4k --b page_kind=thp; for the writes: "
    "clonometer ab cow.parent --a page_kind=4k --b page_kind=thp."
)

Predict = Callable[[Features], Prediction]


@dataclass(frozen=True)
class WhatIf:
    """A change, and what a fork would cost then."""

    change: Annotated[
        str,
        OneOf(("posix_spawn", "helper", "dontfork", "thp_on", "thp_off", "fewer_areas", "fewer_arenas", "fewer_files")),
    ]
    sentence: Annotated[str, "What to do, and what to watch out for."]
    first_ns: Annotated[PredictedTime, "The fork call, or what replaces it, the first time."]
    unwritten_ns: Annotated[PredictedTime, "The same, later, if no page was written to since."]
    how: Annotated[
        str,
        OneOf(("measured", "modelled")),
        "measured: from the calibration's measurements of such a call; modelled: computed for this process with that "
        "change.",
    ]


def what_ifs(profile: Profile, predict: Predict, *, is_measured: bool) -> list[WhatIf]:
    """List the changes that fit a process, those that help most first.

    ``is_measured`` says whether the model rests on this machine's own measurements.
    """
    now = predict(profile.features)
    changes = []
    for change, sentence, features in _changed(profile):
        fork = predict(features).fork
        first, unwritten = PredictedTime.of(fork.first), PredictedTime.of(fork.unwritten)
        changes.append(WhatIf(change, sentence, first, unwritten, "modelled"))
    if now.posix_spawn is not None:
        span = PredictedTime.of(now.posix_spawn)
        how = "measured" if is_measured else "modelled"
        words = "posix_spawn (or vfork) where the child only starts a program."
        changes.append(WhatIf("posix_spawn", words, span, span, how))
    least = _LEAST_CHANGE * now.fork.first.median_ns
    worthy = [each for each in changes if abs(each.first_ns.median - now.fork.first.median_ns) >= least]
    return sorted(worthy, key=lambda each: each.first_ns.median)


def _changed(profile: Profile) -> Iterator[tuple[str, str, Features]]:
    features = profile.features
    if features.anon_pages > _HELPER.anon_pages * 2:
        yield "helper", "A spawn helper or zygote, started before the memory is filled: it forks instead.", _HELPER
    largest = max(profile.groups, key=lambda group: _copied(group.features), default=None)
    if largest is not None and _copied(largest.features):
        yield (
            "dontfork",
            f"MADV_DONTFORK on the largest mapping, {largest.label}: not where a child reads it, as one that "
            "saves it does.",
            _without(features, largest.features),
        )
    yield from _pages_changed(profile)
    yield from _areas_changed(profile)
    if features.open_files >= _MANY_FILES:
        yield "fewer_files", "With 100 open files.", replace(features, open_files=100)


def _pages_changed(profile: Profile) -> Iterator[tuple[str, str, Features]]:
    features = profile.features
    could = min(sum(group.could_be_huge for group in profile.groups), features.anon_pages // PAGES_OF_HUGE)
    if could:
        yield (
            "thp_on",
            "With transparent huge pages: a write after the fork then splits a 2 MiB page or copies it." + _SEEN_HERE,
            with_huge_pages(features, could),
        )
    if features.huge_pages:
        yield (
            "thp_off",
            "Without transparent huge pages: forks cost more, and each copy on write is smaller." + _SEEN_HERE,
            without_huge_pages(features),
        )


def _areas_changed(profile: Profile) -> Iterator[tuple[str, str, Features]]:
    features = profile.features
    areas = features.anon_areas + features.empty_areas + features.file_areas + features.dontfork_areas
    if areas >= _MANY_AREAS:
        yield (
            "fewer_areas",
            f"With a tenth of its {areas:,} areas (fewer mprotect, madvise and small mmap calls).",
            replace(
                features,
                **{
                    name: getattr(features, name) // 10
                    for name in ("anon_areas", "empty_areas", "file_areas", "dontfork_areas")
                },
            ),
        )
    if profile.arenas >= _MANY_ARENAS:
        # Each arena has an area that is used and one that is reserved, and tables of its own.
        gone = profile.arenas - 1
        yield (
            "fewer_arenas",
            f"With one arena instead of {profile.arenas} (MALLOC_ARENA_MAX=1, or jemalloc, which has fewer areas).",
            replace(
                features,
                anon_areas=max(0, features.anon_areas - gone),
                empty_areas=max(0, features.empty_areas - gone),
                anon_tables=max(min(1, features.anon_pages), features.anon_tables - gone),
            ),
        )


def _copied(features: Features) -> int:
    return features.anon_pages + features.swapped_pages + features.huge_pages * PAGES_OF_HUGE


def _without(whole: Features, part: Features) -> Features:
    """A process whose areas of one group are kept from its children."""
    names = ("anon_areas", "anon_pages", "anon_tables", "huge_pages", "swapped_pages", "hugetlb_pages")
    return replace(
        whole,
        **{name: getattr(whole, name) - getattr(part, name) for name in names},
        dontfork_areas=whole.dontfork_areas + part.anon_areas,
        dontfork_pages=whole.dontfork_pages + part.anon_pages,
    )
