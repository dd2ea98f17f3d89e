"""Launches a program from a heap: `heap.py API BYTES LAUNCHES`; heap.js, Heap.java, heap.go and heap.rs do the same.

Each holds objects of 1 KiB, prints `ready` and waits for a line. It then launches, and prints whether the heap was
written since the last launch, the ns until the call returned, and those until the program had ended. It sleeps
before each launch, since a process that has just used its CPU for long loses it to others at the next chance.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable

PROGRAM = ["/bin/true"]


def _preexec() -> None:
    pass


def _popen(**options: Callable[[], None]) -> Callable[[], None]:
    return subprocess.Popen(PROGRAM, **options).wait  # type: ignore[call-overload]


def _wait_for(pid: int) -> Callable[[], None]:
    return lambda: _void(os.waitpid(pid, 0))


def _void(_: object) -> None:
    """Drop the value."""


def _fork() -> Callable[[], None]:
    pid = os.fork()
    if pid == 0:
        os.execv(PROGRAM[0], PROGRAM)
    return _wait_for(pid)


APIS: dict[str, Callable[[], Callable[[], None]]] = {
    "subprocess": _popen,
    "preexec_fn": lambda: _popen(preexec_fn=_preexec),
    "posix_spawn": lambda: _wait_for(os.posix_spawn(PROGRAM[0], PROGRAM, os.environ)),
    "fork": _fork,
}


def main() -> None:
    """Hold the heap, and launch."""
    launch, size, launches = APIS[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    heap = [bytes([number & 255]) * 991 for number in range(size // 1024)]
    print("ready", flush=True)
    sys.stdin.readline()
    launch()()
    for kind in ("written", "untouched"):
        for _ in range(launches):
            if kind == "written":
                for _each in heap:  # its reference count is written
                    pass
            time.sleep(0.02)
            began = time.monotonic_ns()
            wait = launch()
            returned = time.monotonic_ns()
            wait()
            print(kind, returned - began, time.monotonic_ns() - began)


main()
