"""Servers of ``serve.*`` under our client, and under clients of other people: latencies, rate and CPU time in turn.

The same server, of the probe, answers both. From outside it is reached at its port of TCP while its client sends one
request a second. An open loop of another make (``open_client.c``) has the same rate; wrk, if it is installed, keeps
16 connections busy, as our client does at a rate beyond the server. ``BENCH_DESIGNS=fork,thread`` selects designs,
``BENCH_ROUNDS`` says how many rounds there are.
"""

from __future__ import annotations

import math
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from publications.servers.loads import wrk_answer

from bench.harness import Line, ask_driver, ask_probe, binaries, clock, compile_c, real_time, say
from clonometer.stats.quantiles import quantile_interval

DESIGNS = ("inline", "thread", "fork", "prefork")
ROUNDS = 8
RATE_HZ, SECONDS = 250, 2.0
#: Beyond what any of them answers with so much work.
FULL_HZ, FULL_S, CONNECTIONS = 20_000, 1.0, 16
WORK_NS = 100_000
#: How much longer a server stays than the client from outside needs it.
MARGIN_S = 1.5
_TRIES = 5
MOST_APART = 1.10
_LISTENS = "0A"


@dataclass(frozen=True)
class Seen:
    """What a client saw, in ns and requests a second, and what the server used for each request."""

    p50_ns: float
    p99_ns: float
    per_s: float
    cpu_each_ns: float


class Outside:
    """A server that is kept for a client from outside by a client of its own, which asks once a second."""

    def __init__(self, design: str, seconds: float, clock_words: Sequence[str]) -> None:
        words = [f"workload=serve.{design}", "linkage=static", "transport=tcp", "rate_hz=1", f"work_ns={WORK_NS}"]
        words += [f"load_ns={int(seconds * 1e9)}", "samples=1", "blocks=1", "warmup=0", *clock_words]
        self._used_ns = self._answered = 0.0
        self._thread = threading.Thread(target=self._run, args=(words,))
        self._thread.start()

    def _run(self, words: Sequence[str]) -> None:
        (block,) = ask_driver([str(binaries() / "probe-static")], words)
        self._answered = sum(int(error) == 0 for error in block.columns["errno"])
        self._used_ns = _first(block.columns["server_cpu_each_ns"]) * self._answered

    def port(self) -> int:
        """Where it listens, once it answers: connections that come sooner wait for it."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            if ports := list(_listening()):
                time.sleep(0.2)
                return ports[0]
            time.sleep(0.01)
        raise RuntimeError("the server does not listen")

    def cpu_each_ns(self, answered: int) -> float:
        """What it used for each request, when it has ended; those of its own client among them."""
        self._thread.join()
        return self._used_ns / (self._answered + answered)


def _listening() -> Iterator[int]:
    """The ports at which a child of this process listens: others listen here as well."""
    tasks = Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    sockets = set()
    for child in children:
        with suppress(OSError):
            sockets |= {str(file.readlink()) for file in Path(f"/proc/{child}/fd").iterdir()}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        address, state, inode = fields[1], fields[3], fields[9]
        if state == _LISTENS and f"socket:[{inode}]" in sockets:
            yield int(address.rpartition(":")[2], 16)


def _first(values: Iterable[float]) -> float:
    """What is true of a whole period stands in one of its rows."""
    return next(float(value) for value in values if value is not None and not math.isnan(value))


def _quantile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


def ours(design: str, rate_hz: int, seconds: float, words: Sequence[str], _: int) -> Seen:
    """What the probe's client saw."""
    words = [f"workload=serve.{design}", "transport=tcp", f"rate_hz={rate_hz}", f"work_ns={WORK_NS}", *words]
    words += [f"load_ns={int(seconds * 1e9)}", "samples=1", "blocks=1", "warmup=0", f"clients={CONNECTIONS}"]
    (block,) = ask_probe(words)
    columns = block.columns
    good = [index for index, error in enumerate(columns["errno"]) if int(error) == 0]
    times = [float(columns["latency_ns"][index]) for index in good]
    served, cpu = _first(columns["served_per_s"]), _first(columns["server_cpu_each_ns"])
    return Seen(_quantile(times, 0.5), _quantile(times, 0.99), served, cpu)


def open_loop(client: Path, design: str, words: Sequence[str], seed: int) -> Seen:
    """What an open loop of another make saw; again where it began so late that the server ended before it."""
    for _ in range(_TRIES):
        seen = _open_loop_once(client, design, words, seed)
        if seen is not None:
            return seen
    raise RuntimeError(f"{design}: the machine is so busy that clients start seconds late")


def _open_loop_once(client: Path, design: str, words: Sequence[str], seed: int) -> Seen | None:
    server = Outside(design, SECONDS + MARGIN_S, words)
    numbers = [server.port(), RATE_HZ, SECONDS, seed, min(os.sched_getaffinity(0))]
    written = subprocess.check_output([str(client), *map(str, numbers)], text=True)
    times = [float(line) for line in written.split()]
    answered = [each for each in times if each >= 0]
    cpu_ns = server.cpu_each_ns(len(answered))
    if len(answered) < len(times):
        return None
    return Seen(_quantile(answered, 0.5), _quantile(answered, 0.99), len(answered) / SECONDS, cpu_ns)


def closed_loop(design: str, words: Sequence[str], _: int) -> Seen:
    """What wrk saw."""
    server = Outside(design, FULL_S + 1 + MARGIN_S, words)
    where, client = f"http://127.0.0.1:{server.port()}/", str(min(os.sched_getaffinity(0)))
    asked = ["taskset", "-c", client, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{math.ceil(FULL_S)}s", "--latency", where]
    answer = wrk_answer(subprocess.check_output(asked, text=True))
    per_s = answer.requests / answer.seconds
    return Seen(answer.p50_s * 1e9, answer.p99_s * 1e9, per_s, server.cpu_each_ns(answer.requests))


def in_turn(rounds: int, a: Callable[[int], Seen], b: Callable[[int], Seen]) -> list[tuple[Seen, Seen]]:
    """Both sides in each round, the first one in turn."""
    pairs = []
    for number in range(rounds):
        first, second = (a, b) if number % 2 == 0 else (b, a)
        seen = first(number), second(number)
        pairs.append(seen if number % 2 == 0 else seen[::-1])
    return pairs


def ratio(
    name: str,
    pairs: Sequence[tuple[Seen, Seen]],
    of: Callable[[Seen], float],
    limit: float | None,
    *,
    strict: bool = False,
) -> Line:
    """How far our figures and theirs are apart: the median of the rounds' ratios, as the larger over the smaller."""
    ratios = [of(mine) / of(other) for mine, other in pairs]
    larger = statistics.median(ratios) >= 1
    apart = quantile_interval([each if larger else 1 / each for each in ratios], 0.5)
    mine, other = (statistics.median(of(pair[side]) for pair in pairs) for side in (0, 1))
    note = f"ours {mine:,.0f}, theirs {other:,.0f}; {'ours' if larger else 'theirs'} is larger"
    return Line(f"serve_clients.{name}", apart.value, apart.low, apart.high, limit, note=note, strict=strict)


def run() -> Iterator[Line]:
    words = clock()
    chosen = os.environ.get("BENCH_DESIGNS", ",".join(DESIGNS)).split(",")
    rounds = int(os.environ.get("BENCH_ROUNDS", ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        client = compile_c(Path(__file__).with_name("open_client.c"), Path(folder) / "open_client", "-lm")
        for design in chosen:
            mine, other = partial(ours, design, RATE_HZ, SECONDS, words), partial(open_loop, client, design, words)
            # Beyond its capacity, below, a server of this class would leave others no CPU.
            with real_time():
                pairs = in_turn(rounds, mine, other)
            yield say(ratio(f"{design}.p50", pairs, lambda seen: seen.p50_ns, MOST_APART))
            yield say(ratio(f"{design}.p99", pairs, lambda seen: seen.p99_ns, None))
            yield say(ratio(f"{design}.cpu", pairs, lambda seen: seen.cpu_each_ns, MOST_APART))
        if shutil.which("wrk") is None:
            print("serve_clients: rates are not compared, wrk is not installed")
            return
        for design in chosen:
            mine, other = partial(ours, design, FULL_HZ, FULL_S, words), partial(closed_loop, design, words)
            pairs = in_turn(rounds, mine, other)
            # How many it answers is also how much of its CPU others leave: on a busy machine it cannot be told.
            yield say(ratio(f"{design}.full_rate", pairs, lambda seen: seen.per_s, MOST_APART, strict=True))
            yield say(ratio(f"{design}.full_cpu", pairs, lambda seen: seen.cpu_each_ns, MOST_APART))
