"""Load generators: wrk, pgbench and redis-benchmark, and what they say."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from publications.servers.serving import Server, ordinary

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_MOST_S = 60.0
#: What redis-benchmark is asked for: it knows no time, only a number of requests.
_REDIS_EACH_S = 4_000


@dataclass(frozen=True)
class Answered:
    """What clients saw: requests that were answered and how many not, seconds, latencies in seconds."""

    requests: int
    seconds: float
    p50_s: float
    p99_s: float
    longest_s: float | None = None
    failed: int = 0


def loaded(server: Server, seconds: float, options: Sequence[str] = ()) -> Answered:
    """Put load on a server for a while: its side's, its case's, or by other options."""
    place = server.place
    options = [place.filled(word) for word in options or place.side.load or place.case.load]
    return {"wrk": _wrk, "pgbench": _pgbench, "redis-benchmark": _redis}[place.case.generator](server, options, seconds)


def _run(server: Server, words: Sequence[str]) -> str:
    ended = subprocess.run(
        ordinary(words),
        cwd=server.place.folder,
        env=server.place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_MOST_S,
    )
    if ended.returncode != 0:
        raise RuntimeError(f"{words[0]} ended with {ended.returncode}: {ended.stdout[-500:]} {server.log()}")
    return ended.stdout


def _wrk(server: Server, options: Sequence[str], seconds: float) -> Answered:
    words = ["wrk", "-t1", f"-d{max(round(seconds), 1)}s", "--latency", *options]
    return wrk_answer(_run(server, words))


def wrk_answer(text: str) -> Answered:
    """What wrk says.

    Raises
    ------
    ValueError
        If it says something else.
    """
    total = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m)", text)
    shares = {
        share: float(value) * _UNITS[unit] for share, value, unit in re.findall(r"(\d+)% +([\d.]+)(us|ms|s|m)\b", text)
    }
    longest = re.search(r"Latency +\S+ +\S+ +([\d.]+)(us|ms|s|m)\b", text)
    if total is None or "50" not in shares or "99" not in shares:
        raise ValueError(f"wrk wrote {text[:200]!r}")
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    failed = sum(map(int, errors.groups())) if errors else 0
    return Answered(
        int(total.group(1)),
        float(total.group(2)) * _UNITS[total.group(3)],
        shares["50"],
        shares["99"],
        float(longest.group(1)) * _UNITS[longest.group(2)] if longest else None,
        failed + (int(refused.group(1)) if refused else 0),
    )


def _pgbench(server: Server, options: Sequence[str], seconds: float) -> Answered:
    folder = server.place.folder
    for path in folder.glob("transactions.*"):
        path.unlink()
    words = [
        "pgbench",
        "-n",
        "-j",
        "1",
        "-T",
        str(max(round(seconds), 1)),
        "-l",
        "--log-prefix",
        str(folder / "transactions"),
    ]
    text = _run(server, [*words, *options])
    lines = [line for path in folder.glob("transactions.*") for line in path.read_text().splitlines()]
    return pgbench_answer(text, lines, seconds)


def pgbench_answer(text: str, lines: Sequence[str], seconds: float) -> Answered:
    """What pgbench says, with the lines of its log.

    The log's latency begins when a connection is there. What a client waits for is the time between two ends of its
    own transactions: it begins the next one at once.
    """
    number = re.search(r"number of transactions actually processed: (\d+)", text)
    failed = re.search(r"number of failed transactions: (\d+)", text)
    if number is None:
        raise ValueError(f"pgbench wrote {text[:200]!r}")
    ends: dict[str, list[float]] = {}
    for line in lines:
        client, _, _, _, epoch_s, microseconds, *_ = line.split()
        ends.setdefault(client, []).append(int(epoch_s) + int(microseconds) / 1e6)
    waits = sorted(
        after - before for each in ends.values() for before, after in zip(sorted(each), sorted(each)[1:], strict=False)
    )
    return Answered(
        int(number.group(1)),
        seconds,
        _quantile(waits, 0.5),
        _quantile(waits, 0.99),
        waits[-1] if waits else None,
        int(failed.group(1)) if failed else 0,
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def _redis(server: Server, options: Sequence[str], seconds: float) -> Answered:
    requests = round(_REDIS_EACH_S * seconds)
    return redis_answer(_run(server, ["redis-benchmark", "-n", str(requests), "--csv", *options]), requests)


def redis_answer(text: str, requests: int) -> Answered:
    """What redis-benchmark says as CSV: a head and a line of one test, latencies in ms."""
    head, line = (re.findall(r'"([^"]*)"', each) for each in text.strip().splitlines()[-2:])
    of: Mapping[str, str] = dict(zip(head, line, strict=True))
    return Answered(
        requests,
        requests / float(of["rps"]),
        float(of["p50_latency_ms"]) / 1e3,
        float(of["p99_latency_ms"]) / 1e3,
        float(of["max_latency_ms"]) / 1e3,
    )
