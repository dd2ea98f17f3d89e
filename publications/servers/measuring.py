"""Measures a case: its sides in turn, in random order, each started anew; and what Clonometer sees of each."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from publications.servers.case import ServerCase
from publications.servers.loads import loaded
from publications.servers.profiling import profiled
from publications.servers.serving import Place, Server

from clonometer.stats.quantiles import quantile_interval

ROUNDS, LOAD_S, WARM_S = 5, 1.0, 1.0
_CLONOMETER = str(Path(sys.executable).with_name("clonometer"))
_MOST_S = 60.0
_MOST_WARM = 10
_PAUSE_S = 1.0
_PREDICTED = ("fork", "exit_ns", "rss_bytes", "features", "unavailable")


def measured(
    case: ServerCase, say: Callable[[str], None], *, rounds: int = ROUNDS, load_s: float = LOAD_S
) -> dict[str, Any]:
    """What was measured, as JSON values; times in seconds, those of a census in ns."""
    with tempfile.TemporaryDirectory(prefix="clonometer-server-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        places = {side.name: Place(case, side, folder / f"side-{number}") for number, side in enumerate(case.sides)}
        seen = {}
        for number, side in enumerate(case.sides):
            say(f"{case.name}: what the census sees of {side.name}")
            seen[side.name] = _seen(places[side.name], first=number == 0)
        before = os.getloadavg()[0]
        results: dict[str, list[dict[str, float]]] = {side.name: [] for side in case.sides}
        for number in range(rounds):
            say(f"{case.name}: round {number + 1} of {rounds}")
            for side in random.sample(list(case.sides), len(case.sides)):
                results[side.name].append(_round(places[side.name], load_s))
        version = next(iter(places.values())).run(case.version).strip().splitlines()[0]
    return {
        "version": version,
        "date": datetime.now(UTC).date().isoformat(),
        "load": round(max(before, os.getloadavg()[0]), 1),
        "cpus": len(os.sched_getaffinity(0)),
        "seconds": load_s,
        "sides": [{"name": side.name, "seen": seen[side.name], **_summary(results[side.name])} for side in case.sides],
        "ratios": {side.name: _ratio(results[case.sides[0].name], results[side.name]) for side in case.sides[1:]},
    }


def _round(place: Place, load_s: float) -> dict[str, float]:
    """Start a side, warm it, put load on it; its CPU time a request, and what clients saw."""
    with place.serving() as server:
        _warm(server)
        with _meanwhile(place):
            before_s = server.cpu_s()
            answered = loaded(server, load_s)
            used_s = server.cpu_s() - before_s
    if answered.requests == 0:
        raise RuntimeError(f"{place.side.name} answered nothing in {load_s:g} s")
    return {
        "cpu_s": used_s / answered.requests,
        "rate": answered.requests / answered.seconds,
        "p50_s": answered.p50_s,
        "p99_s": answered.p99_s,
        "longest_s": answered.longest_s or 0.0,
        "failed": answered.failed,
    }


def _warm(server: Server) -> None:
    """Put load on it until it has answered: the first child may take a while.

    Raises
    ------
    RuntimeError
        If it answers nothing.
    """
    for _ in range(_MOST_WARM):
        if loaded(server, WARM_S).requests > 0:
            return
    raise RuntimeError(f"{server.place.side.name} answers nothing: {server.log()}")


@contextlib.contextmanager
def _meanwhile(place: Place) -> Iterator[None]:
    """Run a side's command again and again."""
    over = threading.Event()

    def repeat() -> None:
        while place.side.meanwhile and not over.is_set():
            place.run(place.side.meanwhile)
            over.wait(_PAUSE_S)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _summary(rounds: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Medians of the rounds with their range."""
    keys = ("cpu_s", "rate", "p50_s", "p99_s", "longest_s")
    of = {key: quantile_interval([each[key] for each in rounds]) for key in keys}
    return {
        **{key: [value.value, value.low, value.high] for key, value in of.items()},
        "failed": sum(each["failed"] for each in rounds),
    }


def _ratio(base: Sequence[Mapping[str, float]], other: Sequence[Mapping[str, float]]) -> list[float]:
    """How many times the CPU time a request of the base another side takes: of rounds in turn, with their range."""
    ratios = [theirs["cpu_s"] / max(ours["cpu_s"], 1e-9) for ours, theirs in zip(base, other, strict=True)]
    return [median(ratios), min(ratios), max(ratios)]


def _seen(place: Place, *, first: bool) -> dict[str, Any]:
    """What `predict` and `census` say of a side: before the load, and under it.

    Of the ``first`` side also what requests cost on connections that stay, where there are such, and where its CPU time
    goes by another instrument, where it launches.
    """
    with place.serving() as server:
        _warm(server)
        predicted = _answer("predict", "--pid", str(server.pid), "--json")
        seen = {"predict": {key: predicted.get(key) for key in _PREDICTED}, "census": _counted(server, ())}
        if first and place.case.kept:
            seen["kept"] = _counted(server, place.case.kept)
        if first and place.side.makes_processes:
            seen["profile"] = profiled(server)
    return seen


def _counted(server: Server, options: Sequence[str]) -> dict[str, Any]:
    """A census under load, with the requests and the CPU time of each meanwhile."""
    over, requests = threading.Event(), 0
    before_s, before_faults, began_s = _cpu_of(server), server.own_faults(), time.monotonic()

    def load() -> None:
        nonlocal requests
        while not over.is_set():
            requests += loaded(server, WARM_S, options).requests

    loading = threading.Thread(target=load)
    loading.start()
    try:
        watched_s = f"{server.place.case.watched_s:g}s"
        words = ("census", "--pid", str(_watched(server)), "--for", watched_s, "--no-advice", "--json")
        with _meanwhile(server.place):
            counted = _answer(*words)
    finally:
        over.set()
        loading.join()
    used_s = {name: (after - before_s[name]) / max(requests, 1) for name, after in _cpu_of(server).items()}
    return {
        **summed(counted),
        **used_s,
        "requests_per_s": requests / (time.monotonic() - began_s),
        "own_faults": (server.own_faults() - before_faults) / max(requests, 1),
    }


def _cpu_of(server: Server) -> dict[str, float]:
    """CPU time of a server's tasks, and of those that it created alone."""
    cpu_s = server.cpu_s()
    return {"cpu_s": cpu_s, "children_cpu_s": cpu_s - server.own_cpu_s()}


def _watched(server: Server) -> int:
    """The first process of a server: it and all below are watched."""
    return server.roots[0].pid


def _answer(*words: str) -> dict[str, Any]:
    """A command's JSON, or the reason why there is none."""
    ended = subprocess.run([_CLONOMETER, *words], capture_output=True, text=True, check=False, timeout=_MOST_S)
    if ended.returncode not in (0, 124):
        return {"unavailable": ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else "no answer"}
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def summed(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a census says of all creators together, by mechanism; per task, ns and faults."""
    if "unavailable" in answer:
        return dict(answer)
    ways: dict[str, dict[str, Any]] = {}
    for creator in sorted(answer["creators"], key=lambda each: -each["created"]):
        used = creator["used"] or {}
        way = ways.setdefault(
            creator["mechanism"],
            {
                "created": 0,
                "execed": 0,
                "making_median_ns": creator["making_median_ns"],
                "cpu_median_ns": used.get("cpu_median_ns"),
                "minor_faults_median": used.get("minor_faults_median"),
                "known": 0,
                "cpu_ns": 0,
                "minor_faults": 0,
            },
        )
        way["created"] += creator["created"]
        way["execed"] += creator["execed"]
        way["known"] += used.get("known", 0)
        way["cpu_ns"] += used.get("cpu_ns") or 0
        way["minor_faults"] += used.get("minor_faults", 0)
    return {
        "seconds": answer["wall_ns"] / 1e9,
        "created_per_s": answer["tasks_per_second"],
        "usage_missing": answer["usage_missing"],
        "ways": ways,
    }
