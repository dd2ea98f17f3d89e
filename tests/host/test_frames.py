from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.fakes.made_target import MadeMachine, entry

from clonometer.host.source import Source
from clonometer.host.target.areas import MemoryArea, parse_smaps
from clonometer.host.target.frames import look_at_frames
from clonometer.host.target.locked import LockTime

START = 0x10000000
PAGES = 2048
PRESENT = 1 << 63


def area_of(pages: int, start: int = START, *, huge_kb: int = 0, flags: str = "rd wr") -> str:
    return entry(start, start + pages * 4096, Rss=pages * 4, Anonymous=pages * 4, AnonHugePages=huge_kb, flags=flags)


def looked_at(root: Path, frames: np.ndarray, *areas: str) -> tuple[list[MemoryArea], LockTime]:
    """What is seen of areas in a process whose pages from ``START`` on lie in those frames; 0 is not present."""
    made = MadeMachine(root).process()
    entries = np.where(frames > 0, frames.astype(np.uint64) | np.uint64(PRESENT), 0).astype(np.uint64)
    with (root / "proc/4711/pagemap").open("wb") as file:
        file.seek(START // 4096 * 8)
        file.write(entries.tobytes())
    lock = LockTime()
    return look_at_frames(Source(made.root), 4711, parse_smaps("".join(areas).encode()), lock), lock


@pytest.mark.parametrize(
    ("frames", "scattered"),
    [
        (np.arange(PAGES) + 500, 4),
        (5000 - np.arange(PAGES), 4),
        # Every third frame is near enough to be fetched ahead; every thousandth is not.
        (3 * np.arange(PAGES) + 1, 4),
        (1000 * np.arange(PAGES) + 1, PAGES),
        # Two rows that take turns, as where memory was given out from two lists.
        (np.where(np.arange(PAGES) % 2, np.arange(PAGES) + 900_000, np.arange(PAGES) + 500), PAGES),
    ],
    ids=["rising", "falling", "near", "apart", "in turns"],
)
def test_pages_are_scattered_whose_frames_lie_apart(tmp_path: Path, frames: np.ndarray, scattered: int) -> None:
    # The first page of each of four windows has no neighbour.
    [area], lock = looked_at(tmp_path, frames, area_of(PAGES))
    assert (area.placed_pages, area.scattered_pages) == (PAGES, scattered)
    assert lock.reads == 4


def test_pages_that_are_not_there_count_for_nothing(tmp_path: Path) -> None:
    frames = np.arange(PAGES) + 500
    frames[100:2000] = 0
    [area], _ = looked_at(tmp_path, frames, area_of(PAGES))
    assert area.placed_pages == PAGES - 1900
    assert area.scattered_pages <= 4


def test_huge_pages_are_no_small_pages_in_a_row(tmp_path: Path) -> None:
    frames = np.concatenate([np.arange(512) + 512 * 7, 1000 * np.arange(512) + 1])
    [area], _ = looked_at(tmp_path, frames, area_of(1024, huge_kb=2048))
    assert (area.placed_pages, area.scattered_pages) == (512, 512)


@pytest.mark.parametrize("flags", ["rd wr dc", "rd wr wf"])
def test_what_fork_does_not_copy_is_not_looked_at(tmp_path: Path, flags: str) -> None:
    [area], lock = looked_at(tmp_path, np.arange(PAGES) + 500, area_of(PAGES, flags=flags))
    assert (area.placed_pages, lock.reads) == (0, 0)


def test_frames_that_are_not_shown_are_not_seen(tmp_path: Path) -> None:
    made = MadeMachine(tmp_path).process()
    areas = parse_smaps(area_of(PAGES).encode())
    assert look_at_frames(Source(made.root), 4711, areas, LockTime()) == areas
    hidden = np.full(PAGES, PRESENT, dtype=np.uint64)
    with (tmp_path / "proc/4711/pagemap").open("wb") as file:
        file.seek(START // 4096 * 8)
        file.write(hidden.tobytes())
    [area] = look_at_frames(Source(made.root), 4711, areas, LockTime())
    assert (area.placed_pages, area.scattered_pages) == (0, 0)


def test_of_a_large_process_a_sample_is_looked_at(tmp_path: Path) -> None:
    many = [area_of(512, START + number * (4 << 20)) for number in range(3000)]
    areas, lock = looked_at(tmp_path, np.arange(3000 * 1024) + 500, *many)
    assert 700 <= lock.reads <= 1024
    assert sum(area.placed_pages for area in areas) == 512 * lock.reads
    assert areas[-1].placed_pages or areas[-2].placed_pages or areas[-3].placed_pages
