"""Reading a live process: what smaps says, in which state it is, and what could refuse it a child."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.fakes.made_target import GIB_KB, LINES, MadeMachine, entry

from clonometer.errors import ClonometerError
from clonometer.host.source import FactUnavailable, Source
from clonometer.host.target.areas import MemoryArea, parse_maps, parse_smaps
from clonometer.host.target.frames import look_at_frames
from clonometer.host.target.headroom import read_headroom
from clonometer.host.target.locked import LockTime
from clonometer.host.target.reader import read_target
from clonometer.host.target.writes import measure_writes

HEAP = entry(0x5500000000, 0x5500400000, name="[heap]", Rss=4000, Anonymous=4000, Referenced=100, Swap=8, Locked=4)
KEPT = entry(0x7F0000000000, 0x7F0000200000, flags="rd wr dc hg", Rss=2048, Anonymous=2048, AnonHugePages=2048)
FILE = entry(0x7F1000000000, 0x7F1000001000, permissions="r-xp", inode=77, name="/opt/my lib/a b.so (deleted)", Rss=4)
TLB = entry(0x7F2000000000, 0x7F2000400000, name="/anon_hugepage (deleted)", inode=9, KernelPageSize=2048,
            Private_Hugetlb=4096)  # fmt: skip

ALL = HEAP + KEPT + FILE + TLB


@pytest.fixture
def made(tmp_path):
    return MadeMachine(tmp_path)


def read(made, pid=4711, how=None):
    return read_target(Source(made.root), pid, how=how)


def test_smaps_is_read_to_the_last_field():
    heap, kept, file, tlb = parse_smaps(ALL.encode())
    assert (heap.start, heap.end, heap.name) == (0x5500000000, 0x5500400000, "[heap]")
    assert (heap.rss_kb, heap.anonymous_kb, heap.referenced_kb, heap.swap_kb, heap.locked_kb) == (4000, 4000, 100, 8, 4)
    assert kept.has("dc")
    assert kept.huge_kb == 2048
    assert (file.name, file.inode, file.permissions) == ("/opt/my lib/a b.so (deleted)", 77, "r-xp")
    assert (tlb.private_hugetlb_kb, tlb.page_kb, tlb.rss_kb) == (4096, 2048, 0)


def test_a_kernel_without_some_lines_and_one_entry_of_another_layout():
    old = tuple(line for line in LINES if line not in ("Locked", "FilePmdMapped", "KSM"))
    shorter = entry(0x1000, 0x2000, lines=old, Rss=4, Anonymous=4, Swap=4)
    areas = parse_smaps((shorter + HEAP + shorter).encode())
    assert [(area.rss_kb, area.swap_kb, area.locked_kb) for area in areas] == [(4, 4, 0), (4000, 8, 4), (4, 4, 0)]


@pytest.mark.parametrize("text", ["rubbish\n", ALL[:-200], "1000-2000 rw-p 0 0:0 0\nRss: many kB\nVmFlags: rd\n"])
def test_what_is_no_smaps_is_refused(text):
    with pytest.raises(FactUnavailable):
        parse_smaps(text.encode())
    with pytest.raises(FactUnavailable):
        parse_maps(b"rubbish\n")


def test_65000_areas_are_all_there():
    rest = entry(0, 4096, Rss=4, Anonymous=4).partition("\n")[2]
    text = "".join(f"{at << 13:x}-{(at << 13) + 4096:x} rw-p 0 0:0 0\n{rest}" for at in range(65_000))
    areas = parse_smaps(text.encode())
    assert len(areas) == 65_000
    assert sum(area.anonymous_kb for area in areas) == 4 * 65_000


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        ({"Kthread": 1, "VmSize": None}, 2, "a kernel thread"),
        ({"State": "Z (zombie)", "VmSize": None}, 2, "has ended: a zombie, whose parent 1"),
        ({"Tgid": 4700}, 2, "4711 is a thread of process 4700"),
        ({"VmSize": None}, 3, "process 4711 ended while it was being read"),
        ({"Threads": None}, 3, "cannot be read"),
    ],
)
def test_what_never_forks_or_is_leaving_is_refused(made, status, code, words):
    made.process(smaps=ALL, **status)
    with pytest.raises(ClonometerError, match=words) as refused:
        read(made)
    assert refused.value.exit_status == code


def test_a_pid_that_is_gone_and_one_of_another_namespace(made):
    made.process(smaps=ALL, NSpid="4711\t7")
    with pytest.raises(ClonometerError, match="no process 12 here") as gone:
        read(made, 12)
    assert gone.value.exit_status == 2
    with pytest.raises(ClonometerError, match="no process 7 here") as inner:
        read(made, 7)
    assert inner.value.hint.endswith("--pid 4711")
    assert read(made).status.inner_pids == (7,)


def test_memory_that_vanishes_while_it_is_read_is_an_end(made):
    made.process(smaps="")
    with pytest.raises(ClonometerError, match="ended while") as ended:
        read(made)
    assert ended.value.exit_status == 3


def test_a_process_of_500_gb_is_not_walked_page_by_page(made):
    size_kb = 500 * GIB_KB
    smaps = entry(0x7F0000000000, 0x7F0000000000 + size_kb * 1024, Rss=size_kb, Anonymous=size_kb)
    made.process(smaps=smaps, VmSize=f"{size_kb} kB", RssAnon=f"{size_kb} kB", VmPTE=f"{size_kb // 512} kB")
    reading = read(made)
    # No made file takes PAGEMAP_SCAN, so that counters are what is left.
    assert reading.how == "counters"
    assert "so large" in reading.why
    assert reading.status.rss_bytes == size_kb * 1024 + 4000 * 1024
    assert reading.lock.reads < 10
    assert read(made, how="smaps").areas[0].rss_kb == size_kb


HUGE_KB = 500 * GIB_KB


@pytest.fixture
def made_huge(made):
    smaps = entry(0x7F0000000000, 0x7F0000000000 + HUGE_KB * 1024, Rss=HUGE_KB, Anonymous=HUGE_KB)
    made.process(smaps=smaps, VmSize=f"{HUGE_KB} kB", RssAnon=f"{HUGE_KB} kB")
    made.write({"proc/4711/pagemap": ""})
    return made


def scanning(monkeypatch, calls, seconds_each=0.0):
    """Stand for the kernel: all pages that it is asked for are present, the first 2 MiB of each call huge."""

    def ioctl(_descriptor, _request, argument):
        _, _, start, end, _, regions, *_ = struct.unpack("12Q", argument)
        calls.append(end - start)
        huge_end = start + (2 << 20)
        content = struct.pack("6Q", start, huge_end, 8 | 64, huge_end, end, 8)
        ctypes.memmove(regions, content, len(content))
        argument[32:40] = end.to_bytes(8, "little")
        return 2

    monkeypatch.setattr("clonometer.host.target.pagescan.fcntl.ioctl", ioctl)
    monkeypatch.setattr("clonometer.host.target.pagescan.time.monotonic", lambda: seconds_each * len(calls))


def test_500_gb_are_scanned_in_short_steps_where_the_kernel_can(made_huge, monkeypatch):
    calls = []
    scanning(monkeypatch, calls)
    reading = read(made_huge)
    assert (reading.how, reading.areas[0].rss_kb, len(calls)) == ("pagemap", HUGE_KB, 2000)
    assert max(calls) == 256 << 20
    assert reading.areas[0].huge_kb == 2000 * 2048


def test_a_scan_that_takes_too_long_leaves_the_counters_and_no_part_of_the_pages(made_huge, monkeypatch):
    calls = []
    scanning(monkeypatch, calls, seconds_each=0.01)
    reading = read(made_huge)
    assert (reading.how, reading.areas[0].rss_kb) == ("counters", 0)
    assert "too many for the time" in reading.why
    assert 200 < len(calls) < 400


def test_smaps_that_is_closed_leaves_the_counters_and_names_the_right(made, monkeypatch):
    made.process(smaps=ALL)

    def closed(source, path, lock):
        raise FactUnavailable(f"{path}: Permission denied")

    monkeypatch.setattr("clonometer.host.target.reader.read_timed", closed)
    reading = read(made)
    assert (reading.how, reading.areas) == ("counters", None)
    assert "CAP_SYS_PTRACE" in reading.why
    made.write({"proc/self/status": "Uid:\t5\t5\t5\t5\nCapEff:\t0000000000000000\n"})
    assert "belongs to user 1000" in read(made).why


def test_room_is_read_from_groups_of_both_versions_limits_and_the_machine(made):
    made.process(smaps=ALL, Threads=3)
    made.process(pid=5000, smaps=ALL, Threads=4)
    made.write(
        {
            "proc/4711/cgroup": "0::/a/b\n",
            "proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            "sys/fs/cgroup/a/memory.max": "1000000",
            "sys/fs/cgroup/a/memory.current": "400000",
            "sys/fs/cgroup/a/b/pids.max": "10",
            "sys/fs/cgroup/a/b/pids.current": "10",
        }
    )
    headroom = read_headroom(Source(made.root), read(made).status)
    assert (headroom.memory.left, headroom.pids.left) == (600_000, 0)
    assert (headroom.user_tasks.limit, headroom.user_tasks.used) == (500, 7)
    assert (headroom.machine_tasks.limit, headroom.machine_tasks.used) == (32768, 300)
    assert headroom.commit_limit_bytes == 32 << 30
    privileged = replace(read(made).status, capabilities=1 << 24)
    assert read_headroom(Source(made.root), privileged).user_tasks is None
    made.write(
        {
            "proc/4711/cgroup": "4:memory:/m\n8:pids:/p\n",
            "proc/self/mountinfo": "31 23 0:26 / /v1/memory rw - cgroup cgroup rw,memory\n"
            "32 23 0:27 / /v1/pids rw - cgroup cgroup rw,pids\n",
            "v1/memory/m/memory.limit_in_bytes": "5000",
            "v1/memory/m/memory.usage_in_bytes": "1000",
            "v1/pids/p/pids.max": "20",
            "v1/pids/p/pids.current": "5",
        }
    )
    older = read_headroom(Source(made.root), read(made).status)
    assert (older.memory.left, older.pids.left) == (4000, 15)


def test_soft_dirty_pages_are_counted_where_the_kernel_marks_them(made):
    made.process(smaps=entry(0x10000, 0x14000, Rss=12, Anonymous=12) + KEPT)
    made.write({"proc/4711/clear_refs": ""})
    present, dirty = 1 << 63, 1 << 55
    entries = [0] * 0x10 + [present, present | dirty, dirty, present | dirty]
    (made.root / "proc/4711/pagemap").write_bytes(b"".join(number.to_bytes(8, "little") for number in entries))
    waited = []
    seen = measure_writes(Source(made.root), 4711, read(made).areas, 5.0, means="measured", sleep=waited.append)
    assert (seen.pages, seen.of_pages, seen.seconds, waited) == (2, 3, 5.0, [5.0])
    assert (made.root / "proc/4711/clear_refs").read_text() == "4"


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
