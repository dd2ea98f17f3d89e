"""Lines of a census, as the core writes them, and what is gathered of them."""

from __future__ import annotations

from typing import Any

from clonometer.tracing.census.tally import Census

VFORK = ["CLONE_VM", "CLONE_VFORK"]
FORK = ["CLONE_CHILD_SETTID", "CLONE_CHILD_CLEARTID"]
THREAD = ["CLONE_VM", "CLONE_FS", "CLONE_FILES", "CLONE_SIGHAND", "CLONE_THREAD"]


def task(**changes: Any) -> dict[str, Any]:
    line = {
        "line": "task",
        "tid": 2,
        "creator": 0,
        "creator_program": "/bin/make",
        "program": "/bin/cc",
        "call": "vfork",
        "flag_names": VFORK,
        "exit_signal": None,
        "own_stack": None,
        "call_ns": 100_000,
        "making_ns": 80_000,
        "cpu_wait_ns": 20_000,
        "runs_ns": 20_000,
        "exec_ns": 60_000,
        "cost_ns": 110_000,
        "life_ns": 5_000_000,
        "cpu_ns": 400_000,
        "minor_faults": 417,
        "major_faults": 1,
        "alive": False,
        "execs": 1,
        "failed_execs": 0,
    }
    return line | changes


def ended(**changes: Any) -> dict[str, Any]:
    line = {
        "line": "end",
        "exit_status": 0,
        "timed_out": False,
        "ended_it": False,
        "interrupted": False,
        "wall_ns": 10_000_000,
        "tasks_created": 3,
        "creating_ns": 1_000_000,
        "lost": 0,
        "grown": 0,
        "ring_bytes": 4194304,
        "not_started": 0,
        "unseen": 0,
        "failed": {},
    }
    return line | changes


def taken(*lines: dict[str, Any], how: str = "tracepoints", without: str | None = None, begin_ns: int = 0) -> Census:
    census = Census()
    census.take({"line": "begin", "how": how, "without": without, "begin_ns": begin_ns})
    for line in lines:
        census.take(line)
    return census


def forked(**changes: Any) -> dict[str, Any]:
    return task(call="clone", flag_names=FORK, **({"call_ns": 400_000, "making_ns": 400_000} | changes))


STACKS = {"by": "libdw", "without": "", "copied_bytes": 8192}


def module(number: int, path: str | None, **changes: Any) -> dict[str, Any]:
    return {"line": "module", "module": number, "path": path, "build_id": None, "code_of": None} | changes


def frame(number: int, function: str | None, offset: int = 16, line: int = 0) -> dict[str, Any]:
    place = {"file": "/src/a.c" if line else None, "source_line": line}
    return {"module": number, "offset": offset, "function": function, "plus": 4, **place}


def site(number: int, *frames: dict[str, Any], ends: str = "complete") -> dict[str, Any]:
    return {"line": "site", "site": number, "ends": ends, "frames": frames}


MODULES = [module(0, "/lib/x86_64-linux-gnu/libc.so.6"), module(1, "/bin/planted", build_id="ab" * 20)]


LIBRARY = [frame(0, "__clone3"), frame(0, "__spawnix", 32), frame(0, "posix_spawn@@GLIBC_2.15", 48)]


def group(number: int, path: str) -> dict[str, Any]:
    return {"line": "cgroup", "cgroup": number, "path": path}
