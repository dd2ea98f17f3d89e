"""The loop that anyone can check, of Python: `loops.py WHAT LAUNCHES` prints the ns per launch of 30 parts."""

import subprocess
import sys
import threading
import time

PARTS, WARMUP = 30, 20


def nothing() -> None:
    """Do what the new thread does."""


def os_thread() -> None:
    """Start a thread, and wait for it."""
    thread = threading.Thread(target=nothing)
    thread.start()
    thread.join()


def command() -> None:
    """Start a program, and wait for it."""
    subprocess.Popen(["/bin/true"]).wait()


LAUNCHES = {"os_thread": os_thread, "command": command}


def main(what: str, launches: int) -> None:
    """Launch without a word to anybody, and print."""
    launch, each, parts = LAUNCHES[what], launches // PARTS, []
    for _ in range(WARMUP):
        launch()
    for _ in range(PARTS):
        began = time.monotonic_ns()
        for _ in range(each):
            launch()
        parts.append((time.monotonic_ns() - began) / each)
    print(*parts)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
