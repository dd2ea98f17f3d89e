"""Published comparisons: their shapes run here, in rounds; the figures that they give are in published_pages.py."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.harness import real_time
from publications.runtimes.languages import PROGRAMS
from publications.runtimes.measuring import available, version_of, where
from publications.runtimes.quiet import Others, children_ticks

_GIB = 1 << 30
_MOST_S = 100.0
_ROUNDS = 4
#: Kobzol 2024: the way, GiB, spawns in a round, variables. Its commands are not waited for.
SPAWNS = (
    ("command", 1, 5_000, 0),
    ("command", 5, 5_000, 0),
    ("pre_exec", 1, 100, 0),
    ("pre_exec", 5, 25, 0),
    ("huge", 1, 1_000, 0),
    ("huge", 5, 500, 0),
    ("command", 0, 1_000, 50),
    ("command", 0, 1_000, 250),
    ("set", 0, 1_000, 50),
    ("set", 0, 1_000, 250),
)
_OF = 10_000
#: maxmcd 2024: connections, and how many requests here.
CONNECTIONS, REQUESTS = 30, 1500
_SCRIPT = str(PROGRAMS / "server.mjs")
_SERVERS: Mapping[str, list[str]] = {
    "Node.js": ["node", _SCRIPT],
    "Deno": ["deno", "run", "--allow-all", _SCRIPT],
    "Bun": ["bun", "run", _SCRIPT],
    "Go": ["{out}/server_go"],
    "Rust": ["{out}/server_rs"],
}
_VERSIONS = {"Node.js": "node", "Deno": "deno", "Bun": "bun", "Go": "go", "Rust": "rustc"}
#: megafine 2026: workers, launches of each, bytes that the launcher holds, and the command.
FLOORS = (
    (1, 500, 0, "/bin/true"),
    (2, 500, 0, "/bin/true"),
    (1, 500, 1_000_000_000, "/bin/true"),
    (2, 10, 0, "sleep 0.1"),
    (2, 10, 0, "sleep 0.15"),
)


@dataclass(frozen=True)
class Rounds:
    """What shapes gave in each round, and what share of the CPUs others used."""

    of: Mapping[Any, list[Any]]
    others: float
    scheduling: str

    def facts(self) -> dict[str, Any]:
        """How they were measured, as JSON values."""
        rounds = max((len(values) for values in self.of.values()), default=0)
        return {**where(), "rounds": rounds, "others": round(self.others, 3), "scheduling": self.scheduling}


def in_rounds(shapes: Mapping[Hashable, Callable[[], Any]]) -> Rounds:
    """Run all shapes in turn, again and again, in the class rr where that is allowed."""
    of: dict[Hashable, list[Any]] = {shape: [] for shape in shapes}
    began, longest = time.monotonic(), 0.0
    with real_time() as scheduling:
        others = Others(children_ticks)
        for _ in range(_ROUNDS):
            started = time.monotonic()
            for shape, run in shapes.items():
                of[shape].append(run())
            longest = max(longest, time.monotonic() - started)
            if time.monotonic() - began + longest > _MOST_S:
                break
        return Rounds(of, others.share(), scheduling)


def spawns() -> dict[str, Any]:
    """Seconds that 10,000 spawns take in Rust; from fewer, where each takes long."""
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as folder:
        program = _rust("spawns", folder)
        shapes: dict[Hashable, Callable[[], Any]] = {
            shape: partial(_spawned, program, shape) for shape in SPAWNS if shape[1] * _GIB * 1.5 < available()
        }
        rounds = in_rounds(shapes)
    rows = [
        {"way": shape[0], "gib": shape[1], "count": shape[2], "variables": shape[3], **_times(rounds.of.get(shape, []))}
        for shape in SPAWNS
    ]
    return {"version": version_of(["rustc", "--version"]), **rounds.facts(), "rows": rows}


def _spawned(program: str, shape: tuple[str, int, int, int]) -> float:
    way, gib, count, variables = shape
    words = [program, way, str(gib * _GIB), str(count), str(variables)]
    return int(subprocess.check_output(words, text=True, timeout=_MOST_S)) / count * _OF


def _times(values: list[float]) -> dict[str, Any]:
    return {"of_10000_ns": round(statistics.median(values)), "least_ns": round(min(values))} if values else {}


def servers() -> dict[str, Any]:
    """Requests a second of servers that start `echo hi` for each."""
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as name:
        folder = Path(name)
        for program in ("server", "client"):
            source = str(PROGRAMS / f"{program}.go")
            subprocess.run(["go", "build", "-o", f"{folder}/{program}_go", source], check=True)
        if shutil.which("rustc"):
            shutil.move(_rust("server", name), folder / "server_rs")
        installed = {key: words for key, words in _SERVERS.items() if shutil.which(_VERSIONS[key])}
        rounds = in_rounds({key: partial(_rate, _filled(words, name), folder) for key, words in installed.items()})
    rows = [
        {
            "server": key,
            "version": version_of([_VERSIONS[key], "version" if key == "Go" else "--version"]),
            "rate": statistics.median(rounds.of[key]),
            "most": max(rounds.of[key]),
        }
        for key in installed
    ]
    missing = [_VERSIONS[key] for key in _SERVERS if key not in installed]
    return {**rounds.facts(), "missing": missing, "rows": rows}


def _filled(words: list[str], folder: str) -> list[str]:
    return [word.replace("{out}", folder) for word in words]


def _rate(words: list[str], folder: Path) -> float:
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            client = [str(folder / "client_go"), port, str(CONNECTIONS), str(REQUESTS)]
            return float(subprocess.check_output(client, text=True, timeout=_MOST_S))
        finally:
            server.kill()


def floors() -> dict[str, Any]:
    """Mean ns of a launch by workers on a CPU each, and the largest memory that the kernel gives for the child."""
    megafine = shutil.which("megafine")
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as folder:
        program = _rust("floor", folder)
        shapes: dict[Hashable, Callable[[], Any]] = {
            shape: partial(_floor, program, shape) for shape in FLOORS if shape[2] * 1.5 < available()
        }
        if megafine:
            shapes["ratio"] = partial(_megafine_ratio, megafine)
        rounds = in_rounds(shapes)
    rows = [
        {
            "workers": shape[0],
            "launches": shape[1],
            "bytes": shape[2],
            "command": shape[3],
            "mean_ns": round(statistics.median(mean for mean, _ in rounds.of[shape])),
            "least_ns": min(mean for mean, _ in rounds.of[shape]),
            "peak": round(statistics.median(peak for _, peak in rounds.of[shape])),
        }
        for shape in FLOORS
        if shape in rounds.of
    ]
    answer = {"version": version_of(["rustc", "--version"]), **rounds.facts(), "rows": rows}
    if megafine:
        answer["megafine"] = version_of([megafine, "--version"])
        answer["ratio"] = statistics.median(rounds.of["ratio"])
    return answer


def _floor(program: str, shape: tuple[int, int, int, str]) -> tuple[int, int]:
    workers, launches, size, command = shape
    words = [program, str(workers), str(launches), str(size), *command.split()]
    mean, peak = subprocess.check_output(words, text=True, timeout=_MOST_S).split()
    return int(mean), int(peak)


def _megafine_ratio(megafine: str) -> float:
    """What its README shows of itself: how much longer one command takes than the other."""
    words = [megafine, "--raw", "-j", "2", "-r", "10", "sleep 0.1", "sleep 0.15"]
    text = subprocess.check_output(words, text=True, timeout=_MOST_S, stderr=subprocess.DEVNULL)
    return float(text.split()[1])


def _rust(name: str, folder: str) -> str:
    program = f"{folder}/{name}"
    subprocess.run(["rustc", "-O", "-o", program, str(PROGRAMS / f"{name}.rs")], check=True)
    return program
