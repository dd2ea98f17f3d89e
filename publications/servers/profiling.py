"""Where a server's CPU time goes, by another instrument: samples of `perf` at a steady rate, sorted by kernel entry.

The terms of `clonometer advise` are prices times counts. A profile counts nothing and has no prices: each sample hits
user mode, or the kernel below a page fault, the end of a task, a launch or another system call.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from publications.servers.loads import loaded
from publications.servers.serving import Server

from clonometer.advice.costs import CALL_PARTS, CALL_REST, COPIED_BY_PARENT, FAULTS, FREED

_HZ, _LOAD_S, _MOST_S = 4999, 3.0, 120.0
#: perf 6.1 of Debian ends itself now and then while it reads /proc, where tasks come and go.
_TRIES = 3
#: The first group with one of its functions on the kernel's stack has the sample.
KERNEL_GROUPS: Mapping[str, frozenset[str]] = {
    "page faults": frozenset({"asm_exc_page_fault", "exc_page_fault", "do_mem_abort", "handle_mm_fault"}),
    "ends of tasks": frozenset({"do_exit", "do_group_exit"}),
    "launches": frozenset(
        {"kernel_clone", "do_execveat_common", "bprm_execve", "ret_from_fork", "kernel_wait4", "do_wait"}
    ),
}
USER, OTHER = "code in user mode", "other system calls, interrupts"
GROUPS = (*KERNEL_GROUPS, USER, OTHER)
#: The parts of a request that fall into a group; all others are code of the server.
PARTS: Mapping[str, Collection[str]] = {
    "page faults": (FAULTS, COPIED_BY_PARENT),
    "ends of tasks": (FREED, "freeing page tables", "end of the task"),
    "launches": (*CALL_PARTS, CALL_REST, "start of the task"),
}
_FORKED = re.compile(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")
_HEAD = re.compile(r".*?\s(\d+)/\d+\s+[\d.]+:\s*$")
_FRAME = re.compile(r"\s+([0-9a-f]+) (.+)$")
_KERNEL_BIT = 1 << 63


def profiled(server: Server) -> dict[str, Any]:
    """The share of each group in the CPU time of a server under load, or the reason why there is none."""
    if shutil.which("perf") is None:
        return {"unavailable": "perf is not installed: apt-get install linux-perf"}
    with tempfile.TemporaryDirectory(prefix="clonometer-profile-") as folder:
        data = Path(folder, "perf.data")
        for _ in range(_TRIES):
            failure = _record(server, data)
            if not failure:
                break
        groups = Counter[str]() if failure else _read(server, data)
    samples = groups.total()
    if samples == 0:
        return {"unavailable": failure or "perf took no sample of it"}
    return {"samples": samples, "shares": {group: groups[group] / samples for group in GROUPS}}


def _record(server: Server, data: Path) -> str:
    """Sample all CPUs while the server has load; why that failed, or nothing."""
    words = ["perf", "record", "-q", "-a", "-g", "-e", "cpu-clock", "-F", str(_HZ), "-o", str(data)]
    with subprocess.Popen([*words, "--", "sleep", str(_LOAD_S)], stderr=subprocess.PIPE, text=True) as recording:
        loaded(server, _LOAD_S)
        _, written = recording.communicate(timeout=_MOST_S)
    return "" if recording.returncode == 0 else (written.strip().splitlines() or ["perf failed"])[-1]


def _read(server: Server, data: Path) -> Counter[str]:
    script = ["perf", "script", "-i", str(data), "--show-task-events", "-F", "comm,pid,tid,time,ip,sym"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as reading:
        assert reading.stdout is not None
        return grouped(reading.stdout, {root.pid for root in server.roots})


def grouped(lines: Iterable[str], roots: Iterable[int]) -> Counter[str]:
    """Count the samples of processes and of all that they created, by group; the lines are those of `perf script`."""
    family, groups = set(roots), Counter[str]()
    for block in _blocks(lines):
        created = _FORKED.search(block[0])
        if created and int(created.group(2)) in family:
            family.add(int(created.group(1)))
        head = _HEAD.match(block[0])
        if head and int(head.group(1)) in family:
            groups[_group_of(block[1:])] += 1
    return groups


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """A line with what is indented below it."""
    block: list[str] = []
    for line in lines:
        if _FRAME.match(line):
            block.append(line)
            continue
        if block:
            yield block
        block = [line] if line.strip() else []
    if block:
        yield block


def _group_of(frames: Iterable[str]) -> str:
    matches = [match for match in map(_FRAME.match, frames) if match]
    # `do_execveat_common.isra.0` is what the compiler made of it.
    kernel = {match.group(2).strip().partition(".")[0] for match in matches if int(match.group(1), 16) & _KERNEL_BIT}
    if not kernel:
        return USER
    return next((group for group, functions in KERNEL_GROUPS.items() if kernel & functions), OTHER)
