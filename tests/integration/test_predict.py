"""Reading real processes: what they were given is what is counted, and they notice nothing of it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonometer.errors import ClonometerError
from clonometer.host.source import Source
from clonometer.host.target.reader import Reading, read_target
from clonometer.host.target.writes import means_of_this_kernel, measure_writes
from clonometer.prediction.judge import Machine, Question, judge
from clonometer.prediction.profile import Profile, profile_of
from clonometer.prediction.rough import rough_calibration

pytestmark = pytest.mark.real

PTRACE_SEIZE = 0x4206

# Prints a line once it has all: 32 MiB written, 8 of it kept from children and 4 given to them empty, 16 MiB shared,
# 200 areas more, 50 files, 4 threads. Then it writes to 1,000 pages again and again, if it is told to.
PROCESS = """
import ctypes, mmap, os, sys, threading, time
MIB = 1 << 20
def area(size, flags):
    made = mmap.mmap(-1, size, flags=flags | mmap.MAP_ANONYMOUS)
    made.madvise(15)  # MADV_NOHUGEPAGE
    for at in range(0, size, 4096):
        made[at] = 1
    return made
if sys.argv[1] == "rich":
    private, kept, empty = (area(size * MIB, mmap.MAP_PRIVATE) for size in (20, 8, 4))
    kept.madvise(10)
    empty.madvise(18)
    shared = area(16 * MIB, mmap.MAP_SHARED)
    libc = ctypes.CDLL(None)
    many = mmap.mmap(-1, 400 * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(many))
    for at in range(0, 400, 2):
        assert libc.mprotect(ctypes.c_void_p(address + at * 4096), 4096, 1) == 0
    files = [open("/dev/null") for _ in range(50)]
    for _ in range(4):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("ready", flush=True)
while sys.stdin.readline() == "write\\n":
    for at in range(0, 1000 * 4096, 4096):
        private[at] = 2
    print("written", flush=True)
"""


@contextlib.contextmanager
def started(kind: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROCESS, kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def read(pid: int, how: str | None = None) -> Reading:
    return read_target(Source(Path("/")), pid, how=how)


def profile(pid: int, how: str | None = None) -> Profile:
    return profile_of(read(pid, how), huge_pages_used=False)


def test_what_a_process_was_given_is_counted() -> None:
    with started("rich") as rich, started("poor") as poor:
        has, base = profile(rich.pid).features, profile(poor.pid).features
        by_pages = profile(rich.pid, "pagemap")
        counters = profile(rich.pid, "counters")
    mib = 256
    # What Python itself takes beside differs by some of its pages.
    assert has.anon_pages - base.anon_pages == pytest.approx(20 * mib, abs=mib)
    assert (has.dontfork_pages, has.wipeonfork_pages) == (8 * mib, 4 * mib)
    assert (has.dontfork_areas - base.dontfork_areas, has.wipeonfork_areas - base.wipeonfork_areas) == (1, 1)
    assert has.shared_pages - base.shared_pages == 16 * mib
    areas = has.anon_areas + has.empty_areas - base.anon_areas - base.empty_areas
    assert areas >= 400
    assert has.open_files - base.open_files == 50
    assert has.threads - base.threads == 4
    # 20 MiB have 10 or 11, a stack of a thread and its arena one each; which of all are whose is only estimated.
    assert 10 <= has.anon_tables - base.anon_tables <= 30
    assert has.anon_tables <= has.page_table_bytes // 4096
    if by_pages.how == "pagemap":
        # Which pages are kept from children it cannot see.
        assert by_pages.features.anon_pages == pytest.approx(has.anon_pages + 12 * mib, abs=mib)
    assert counters.least.anon_pages <= has.anon_pages + 12 * mib <= counters.most.anon_pages + mib


def status_of(process: subprocess.Popen[str]) -> list[str]:
    """What the kernel tells of a process; signals that wait are counted of all processes of its user."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("SigQ")]


def test_reading_leaves_a_process_as_it_was() -> None:
    with started("rich") as process:
        deadline = time.monotonic() + 10
        # Having said that it is ready it goes to sleep.
        while "State:\tS (sleeping)" not in (before := status_of(process)) and time.monotonic() < deadline:
            time.sleep(0.01)
        reading = read(process.pid)
        assert reading.how == "smaps"
        assert reading.lock.longest_ns <= reading.lock.total_ns
        assert reading.lock.reads > 10
        # No switch, no signal, no tracer, and not even a page more.
        assert status_of(process) == before


def test_stopped_dead_and_missing_processes() -> None:
    with started("poor") as process:
        os.kill(process.pid, signal.SIGSTOP)
        deadline = time.monotonic() + 10
        while (state := read(process.pid).status.state) != "T" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert state == "T"
        assert profile(process.pid).features.anon_pages > 100
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(ClonometerError, match="zombie") as dead:
            read(process.pid)
        assert dead.value.exit_status == 2
    with pytest.raises(ClonometerError, match="no process") as missing:
        read(process.pid)
    assert missing.value.exit_status == 2


def notes(pid: int) -> str:
    reading = read(pid)
    machine = Machine(rough_calibration(), is_rough=True)
    seen = judge(profile_of(reading, huge_pages_used=False), machine, Question(), reading=reading)
    return " ".join(seen.basis.notes)


def test_a_traced_process_one_of_another_namespace_and_a_thread_of_the_kernel() -> None:
    with started("poor") as process:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.ptrace(PTRACE_SEIZE, process.pid, None, None) == 0:
            assert f"Process {os.getpid()} traces it" in notes(process.pid)
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can make a PID namespace")
    words = ["unshare", "--pid", "--fork", "--kill-child", "sleep", "60"]
    with subprocess.Popen(words) as outer:
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        deadline = time.monotonic() + 10
        while not (inner := children.read_text(encoding="utf-8").split()) and time.monotonic() < deadline:
            time.sleep(0.01)
        try:
            assert "It is process 1 in its PID namespace" in notes(int(inner[0]))
        finally:
            outer.kill()
    if Path("/proc/2/maps").exists() and not Path("/proc/2/maps").read_bytes():
        with pytest.raises(ClonometerError, match="kernel thread"):
            read(2)


def test_a_program_of_32_bits(tmp_path: Path) -> None:
    source, program = tmp_path / "pause.c", tmp_path / "pause"
    source.write_text('void _start(void) { for (;;) __asm__ volatile("int $0x80" :: "a"(29)); }', encoding="utf-8")
    words = ["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-o", str(program), str(source)]
    compiler = shutil.which("gcc")
    if compiler is None or subprocess.run([compiler, *words], capture_output=True, check=False).returncode != 0:
        pytest.skip("no compiler for 32 bits")
    try:
        process = subprocess.Popen([program])
    except OSError as error:
        pytest.skip(f"programs of 32 bits do not run here: {error}")
    with process:
        try:
            assert "a 32-bit program" in notes(process.pid)
        finally:
            process.kill()


def test_who_may_not_look_sees_counters_and_hears_which_right_is_missing() -> None:
    """An ordinary user reads a process of root's."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    reading_end, writing_end = os.pipe()
    with started("poor") as process:
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            seen = read(process.pid)
            os.write(writing_end, json.dumps([seen.how, seen.why, seen.areas, seen.status.rss_bytes]).encode())
            os._exit(0)
        os.close(writing_end)
        _, status = os.waitpid(child, 0)
    assert status == 0
    how, why, areas, rss_bytes = json.loads(os.read(reading_end, 4096))
    os.close(reading_end)
    assert (how, areas) == ("counters", None)
    assert "belongs to user 0" in why
    assert "CAP_SYS_PTRACE" in why
    assert rss_bytes > 1 << 20


def test_pages_that_are_written_to_are_counted() -> None:
    with started("rich") as process:

        def write(seconds: float) -> None:
            process.stdin.write("write\n")
            process.stdin.flush()
            assert process.stdout.readline() == "written\n"

        areas = read(process.pid).areas
        means = means_of_this_kernel()
        try:
            seen = measure_writes(Source(Path("/")), process.pid, areas, 0.1, means=means, sleep=write)
        except ClonometerError as error:
            pytest.skip(error.message)
    # Python itself writes to some pages, and touches more.
    assert 1000 <= seen.pages < 3000
    assert seen.of_pages > 5000
