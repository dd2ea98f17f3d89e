"""Predictions of real programs against their forks: Redis, Python and Perl, each by its way to fork.

Needs a calibration of a while ago (`clonometer calibrate`). A program that is not installed is named and left out.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness import Line, say
from clonometer.cli.calibrating import measure_scale, usable_calibration
from clonometer.cli.predicting import read
from clonometer.model.predictor import predict
from clonometer.predict.profile import profile_of

FORKS = 5
IDLE_S = 0.15
MOST_ERROR = 0.15
REDIS_GB = (0.1, 0.25, 1.0, 2.5)
REDIS_ENTRY_BYTES = 1100
PYTHON = """
import os, sys, time
kept = {content}
print(os.getpid(), flush=True)
for line in sys.stdin:
    start = time.perf_counter_ns()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    taken = time.perf_counter_ns() - start
    os.waitpid(pid, 0)
    print(taken, flush=True)
"""
PERL = """
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC); use POSIX (); $| = 1;
my %kept; $kept{"key$_"} = "value$_" for 1 .. 1500000; print "$$\\n";
while (<STDIN>) {
    my $start = clock_gettime(CLOCK_MONOTONIC); my $pid = fork(); POSIX::_exit(0) if $pid == 0;
    my $taken = clock_gettime(CLOCK_MONOTONIC) - $start; waitpid($pid, 0); printf "%d\\n", 1e9 * $taken;
}
"""
SCRIPTS = {
    "python, small objects": ("python3", "-c", PYTHON.format(content="[[i] for i in range(2500000)]")),
    "python, one array": ("python3", "-c", PYTHON.format(content="bytearray(500 << 20)")),
    "perl, a hash": ("perl", "-e", PERL),
}

Fork = Callable[[], float]


@contextmanager
def script(words: tuple[str, ...]) -> Iterator[tuple[int, Fork]]:
    """Start a program that forks whenever a line comes, and says how long the call took in ns."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def fork() -> float:
            process.stdin.write("fork\n")
            process.stdin.flush()
            return float(process.stdout.readline())

        try:
            yield int(process.stdout.readline()), fork
        finally:
            process.kill()


@contextmanager
def redis(gigabytes: float) -> Iterator[tuple[int, Fork]]:
    """Start a Redis of that size on a socket of its own; it forks to save, and says how long the call took."""
    with tempfile.TemporaryDirectory(prefix="clonometer-bench-") as folder:
        socket = str(Path(folder) / "socket")
        words = ["redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", ""]

        def ask(*asked: str) -> str:
            return subprocess.run(
                ["redis-cli", "-s", socket, *asked], capture_output=True, text=True, check=False
            ).stdout

        def fork() -> float:
            ask("BGSAVE")
            while "rdb_bgsave_in_progress:1" in ask("INFO", "persistence"):
                time.sleep(0.05)
            return 1000 * float(re.search(r"latest_fork_usec:(\d+)", ask("INFO", "stats"))[1])

        with subprocess.Popen([*words, "--enable-debug-command", "yes"], stdout=subprocess.DEVNULL) as process:
            try:
                while "PONG" not in ask("PING") and process.poll() is None:
                    time.sleep(0.05)
                ask("DEBUG", "POPULATE", str(int(gigabytes * 1e9 / REDIS_ENTRY_BYTES)), "key", "1000")
                yield process.pid, fork
            finally:
                process.kill()


def errors(name: str, pid: int, fork: Fork) -> Iterator[Line]:
    """Predict a process, then have it fork: the first time, and later."""
    calibration = usable_calibration()
    if calibration is None:
        raise SystemExit("this machine was not calibrated: clonometer calibrate")
    features = profile_of(read(pid), huge_pages_used=True).features
    predicted = predict(features, calibration, scale=measure_scale(calibration)).fork
    calls = []
    for _ in range(1 + FORKS):
        time.sleep(IDLE_S)
        calls.append(fork())
    for which, times, cost in (("first", calls[:1], predicted.first), ("later", calls[1:], predicted.later)):
        real = statistics.median(times)
        note = f"{cost.median_ns / 1e6:.2f} ms predicted, {real / 1e6:.2f} real, {cost.median_ns / real - 1:+.0%}"
        value = abs(cost.median_ns / real - 1)
        yield Line(f"{name}, {which} fork", value, value, value, MOST_ERROR if real > 1e6 else None, "error", note)


def run() -> Iterator[Line]:
    """Judge every program that is installed."""
    for name, words in SCRIPTS.items():
        if shutil.which(words[0]) is None:
            print(f"{name}: {words[0]} is not installed", file=sys.stderr)
            continue
        with script(words) as (pid, fork):
            yield from map(say, errors(name, pid, fork))
    if shutil.which("redis-server") is None or shutil.which("redis-cli") is None:
        print("redis: redis-server is not installed", file=sys.stderr)
        return
    for gigabytes in REDIS_GB:
        with redis(gigabytes) as (pid, fork):
            yield from map(say, errors(f"redis, {gigabytes:g} GB", pid, fork))
