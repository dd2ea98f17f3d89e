"""Launches a program from a heap: `heap.py BYTES`; heap.js, Heap.java, heap.go, heap.rs, heap.rb, heap.pl do the same.

Each holds objects of 1 KiB and says `ready`. It then obeys lines: `write` writes to each object and answers `written`;
any other is a way to launch, and it answers with the ns until the call returned and those until the program had ended.
Whoever asks waits between the two lines, since a process that has just used its CPU for long loses it to others at
the next chance.
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
    """Hold the heap, and obey."""
    heap = [bytes([number & 255]) * 991 for number in range(int(sys.argv[1]) // 1024)]
    print("ready", flush=True)
    for line in sys.stdin:
        word = line.strip()
        if word == "write":
            for _each in heap:  # its reference count is written
                pass
            print("written", flush=True)
            continue
        began = time.monotonic_ns()
        wait = APIS[word]()
        returned = time.monotonic_ns()
        wait()
        print(returned - began, time.monotonic_ns() - began, flush=True)


main()
