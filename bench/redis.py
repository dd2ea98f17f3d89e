"""Forks of a live server: what Redis says of its own (latest_fork_usec) and the probe's, of as much memory, in turn."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.harness import PAGE_BYTES, Line, ask_probe, clock, say
from clonometer.stats.quantiles import quantile_interval

KEYS = 200_000
VALUE_BYTES = 1000  # four a page
IDLE_S = 0.1
TURNS = 12
SAVES = 2  # in a turn: the first meets caches that the probe has used, as the probe's own warm-up does
LAUNCHES = 5  # of the probe in a turn
CACHES = ("idle", "thrashed", "hot")
# A server idles before it saves, as caches=idle does; it has an allocator's fork handlers and some files more.
MOST_APART = 1.15
REWRITE = """for i = 0, tonumber(ARGV[1]) - 1 do redis.call('SETRANGE', 'key:' .. i, 0, ARGV[2]) end
return redis.status_reply('OK')"""


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise ValueError(f"{pattern} in {text!r}")
    return int(match[1])


@dataclass(frozen=True)
class Server:
    """A running redis-server and the way to ask it."""

    pid: int
    socket: Path

    def ask(self, *words: str) -> str:
        """What it answers."""
        command = ["redis-cli", "-s", str(self.socket), *words]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        if answer.startswith("ERR"):
            raise RuntimeError(f"{' '.join(words)}: {answer}")
        return answer

    def number(self, section: str, name: str) -> int:
        """A number of INFO."""
        return _number(rf"^{name}:(\d+)", self.ask("INFO", section))

    def fork_ns(self) -> float:
        """Save in a child after an idle time, wait for its end, and return what the fork took."""
        time.sleep(IDLE_S)
        self.ask("BGSAVE")
        while self.number("persistence", "rdb_bgsave_in_progress"):
            time.sleep(0.02)
        return 1000.0 * self.number("stats", "latest_fork_usec")

    def written_bytes(self) -> int:
        """Its anonymous memory, which a fork shares page by page."""
        return 1024 * _number(r"^RssAnon:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())


def real_time() -> bool:
    """Whether both sides may run in a real-time class: others' time slices would lie in single forks of either."""
    return shutil.which("chrt") is not None and subprocess.run(["chrt", "-r", "1", "true"], check=False).returncode == 0


@contextmanager
def server(folder: Path, cpu: int, prefix: Sequence[str]) -> Iterator[Server]:
    """Start one that listens to a socket in the folder only, filled and pinned; end it."""
    socket = folder / "redis.sock"
    words = ["--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", "", "--appendonly", "no"]
    words += ["--rdbcompression", "no", "--rdbchecksum", "no", "--enable-debug-command", "local"]
    command = [*prefix, "taskset", "-c", str(cpu), "redis-server", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            running = Server(process.pid, socket)
            while not socket.exists() and process.poll() is None:
                time.sleep(0.02)
            running.ask("DEBUG", "POPULATE", str(KEYS), "key", str(VALUE_BYTES))
            yield running
        finally:
            process.terminate()


def probe_ns(words: Sequence[str], parent_bytes: int, pages: str, caches: str) -> float:
    """Median time in which the probe's fork returns, of a parent with as much memory."""
    condition = [f"parent_bytes={parent_bytes}", "page_kind=4k", f"pages={pages}", f"caches={caches}"]
    condition.append(f"idle_ns={int(IDLE_S * 1e9)}")
    (block,) = ask_probe(["workload=launch.fork", *condition, *words])
    return statistics.median(int(ns) for ns in block.columns["call_returns_ns"])


def lines(pages: str, turns: Sequence[Mapping[str, float]], pages_each: float) -> Iterator[Line]:
    """Redis over the probe, what each says of a page, and how far apart they are where both idled."""
    for caches in CACHES:
        ratio = quantile_interval([turn["redis"] / turn[caches] for turn in turns], 0.5)
        each = {name: statistics.median(turn[name] for turn in turns) / pages_each for name in ("redis", caches)}
        note = f"Redis / probe: {each['redis']:.1f} and {each[caches]:.1f} ns a page, {len(turns)} turns"
        yield Line(f"redis.{pages}.caches={caches}", ratio.value, ratio.low, ratio.high, None, note=note)
    ratios = [turn["redis"] / turn["idle"] for turn in turns]
    larger = statistics.median(ratios) >= 1
    apart = quantile_interval([ratio if larger else 1 / ratio for ratio in ratios], 0.5)
    yield Line(f"redis.{pages}.apart", apart.value, apart.low, apart.high, MOST_APART, note="the larger over the other")


def run() -> Iterator[Line]:
    if missing := [name for name in ("redis-server", "redis-cli") if shutil.which(name) is None]:
        print(f"redis: skipped, {' and '.join(missing)} not installed")
        return
    cpu = max(os.sched_getaffinity(0))
    rr = real_time()
    words = [f"cpu={cpu}", *clock(), "temperatures=warm", "blocks=1", f"samples={LAUNCHES}", "warmup=2"]
    words += ["sched_class=rr"] if rr else []
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), cpu, ["chrt", "-r", "1"] if rr else []) as redis:
        for pages in ("clean", "rewritten"):
            turns: list[dict[str, float]] = []
            for _ in range(TURNS):
                size = redis.written_bytes() // PAGE_BYTES * PAGE_BYTES
                turn = {caches: probe_ns(words, size, pages, caches) for caches in CACHES}
                for _ in range(SAVES):
                    if pages == "rewritten":
                        redis.ask("EVAL", REWRITE, "0", str(KEYS), "x" * 8)
                    turn["redis"] = redis.fork_ns()
                turns.append(turn)
            yield from map(say, lines(pages, turns, size / PAGE_BYTES))
