"""What the processes have that a calibration forks: one thing each in several amounts, and mixtures of all.

Mixtures show how far the parts add up, and hold the fit to what real processes are like.
"""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.model.features import HUGE_PAGE_BYTES, SMALL_PAGE_BYTES

MakerCounts = Mapping[str, int]
"""How many of each thing, by the keys of core/targets/maker.c."""

#: Pages of 4 MiB, 16 MiB, 64 MiB, 256 MiB and 1 GiB.
_PAGES = (1024, 4096, 16_384, 65_536, 262_144)
#: Of the memory that is free, calibrating takes at most such a part.
_PART_OF_MEMORY = 4

FULL: Mapping[str, MakerCounts] = {
    "nothing": {},
    **{f"{pages} pages in a row": {"dense_pages": pages} for pages in _PAGES},
    **{f"{pages} scattered pages": {"scattered_pages": pages} for pages in _PAGES[1:]},
    "512 pages with a table each": {"sparse_pages": 512},
    "128 huge pages": {"huge_pages": 128},
    "64 hugetlb pages": {"hugetlb_pages": 64},
    "1000 written areas": {"written_areas": 1000},
    "5000 written areas": {"written_areas": 5000},
    "2000 empty areas": {"empty_areas": 2000},
    "2000 areas kept from children": {"dontfork_areas": 2000},
    "1000 areas wiped in children": {"wipeonfork_areas": 1000},
    "1000 shared areas": {"file_areas": 1000},
    "16384 shared pages": {"shared_pages": 16_384},
    "1000 areas with a userfaultfd": {"userfaultfd_areas": 1000},
    "2000 open files": {"files": 2000},
    "1 more thread": {"threads": 1},
    "50 more threads": {"threads": 50},
    "a small mixture": {
        "dense_pages": 2000, "dense_parts": 3, "written_areas": 300, "empty_areas": 100, "file_areas": 100,
        "threads": 8, "files": 100,
    },
    "a medium mixture": {
        "dense_pages": 20_000, "dense_parts": 3, "scattered_pages": 10_000, "written_areas": 500, "empty_areas": 500,
        "dontfork_areas": 300, "threads": 20, "files": 500,
    },
    "a mixture of huge and single pages": {
        "sparse_pages": 100, "huge_pages": 20, "written_areas": 100, "file_areas": 300, "wipeonfork_areas": 50,
        "files": 1000,
    },
    "a large mixture": {
        "dense_pages": 60_000, "dense_parts": 2, "scattered_pages": 40_000, "written_areas": 100, "empty_areas": 100,
        "dontfork_areas": 1000, "threads": 4,
    },
}  # fmt: skip
_OF_QUICK = (
    "nothing", "16384 pages in a row", "4096 scattered pages", "65536 scattered pages", "512 pages with a table each",
    "128 huge pages", "1000 written areas", "2000 empty areas", "2000 areas kept from children", "1000 shared areas",
    "2000 open files", "50 more threads",
)  # fmt: skip
_OF_REFERENCE = (
    "nothing", "16384 pages in a row", "16384 scattered pages", "1000 written areas", "2000 empty areas",
)  # fmt: skip
QUICK = {name: FULL[name] for name in _OF_QUICK}
#: What tells how fast the machine is now: pages, areas, and what each process has.
REFERENCE = {name: FULL[name] for name in _OF_REFERENCE}


def memory_bytes(wanted: MakerCounts) -> int:
    """Say how much memory a process with that takes, its own apart."""
    small = sum(
        wanted.get(key, 0)
        for key in ("dense_pages", "scattered_pages", "sparse_pages", "shared_pages", "written_areas")
    )
    return small * SMALL_PAGE_BYTES + wanted.get("huge_pages", 0) * HUGE_PAGE_BYTES


def affordable(
    conditions: Mapping[str, MakerCounts], free_bytes: int | None
) -> tuple[dict[str, MakerCounts], dict[str, str]]:
    """Choose the conditions that fit into a part of the free memory together, the smallest first.

    Gives them in their order, and the others with the reason; where no free memory is known, all fit.
    """
    room = float("inf") if free_bytes is None else free_bytes / _PART_OF_MEMORY
    fitting: list[str] = []
    for name in sorted(conditions, key=lambda name: memory_bytes(conditions[name])):
        room -= memory_bytes(conditions[name])
        if room >= 0:
            fitting.append(name)
    reason = "with the others it needs more than a quarter of the free memory"
    left_out = {name: reason for name in conditions if name not in fitting}
    return {name: wanted for name, wanted in conditions.items() if name in fitting}, left_out
