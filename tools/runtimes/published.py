"""Published comparisons: their shapes run here, smaller where they take long; the figures they have are in pages.py."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tools.runtimes.languages import PROGRAMS
from tools.runtimes.measuring import available, version_of, where

_GIB = 1 << 30
_MOST_S = 180.0
ROUNDS = 1
#: Kobzol 2024: the way, GiB, spawns, variables. Its commands are not waited for.
SPAWNS = (
    ("command", 1, 300, 0),
    ("command", 5, 300, 0),
    ("pre_exec", 1, 30, 0),
    ("pre_exec", 5, 10, 0),
    ("command", 0, 300, 50),
    ("command", 0, 300, 250),
    ("set", 0, 300, 50),
    ("set", 0, 300, 250),
)
#: maxmcd 2024: connections, and how many requests here.
CONNECTIONS, REQUESTS = 30, 1500
_SERVERS = {"Node.js": ["node", str(PROGRAMS / "server.js")], "Go": ["{out}/server"]}


def spawns() -> dict[str, Any]:
    """Seconds that 10,000 spawns take, from fewer, in Rust."""
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as folder:
        program = f"{folder}/spawns"
        subprocess.run(["rustc", "-O", "-o", program, str(PROGRAMS / "spawns.rs")], check=True)
        each: dict[tuple[str, int, int, int], list[int]] = {shape: [] for shape in SPAWNS}
        for _ in range(ROUNDS):
            for (way, gib, count, variables), times in each.items():
                if gib * _GIB * 1.5 < available():
                    words = [program, way, str(gib * _GIB), str(count), str(variables)]
                    times.append(int(subprocess.check_output(words, text=True, timeout=_MOST_S)))
    rows = [
        {"way": way, "gib": gib, "count": count, "variables": variables, "of_10000_ns": _scaled(times, count)}
        for (way, gib, count, variables), times in each.items()
    ]
    return {"version": version_of(["rustc", "--version"]), **where(), "rows": rows}


def _scaled(times: list[int], count: int) -> float | None:
    return statistics.median(times) / count * 10_000 if times else None


def servers() -> dict[str, Any]:
    """Requests a second of servers that start `echo hi` for each."""
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as folder:
        for name in ("server", "client"):
            subprocess.run(["go", "build", "-o", f"{folder}/{name}", str(PROGRAMS / f"{name}.go")], check=True)
        rates: dict[str, list[float]] = {name: [] for name in _SERVERS}
        for _ in range(ROUNDS):
            for name, words in _SERVERS.items():
                rates[name].append(_rate([word.replace("{out}", folder) for word in words], Path(folder)))
    versions = {"Node.js": version_of(["node", "--version"]), "Go": version_of(["go", "version"])}
    missing = [name for name in ("deno", "bun") if shutil.which(name) is None]
    rows = [{"server": name, "version": versions[name], "rate": statistics.median(of)} for name, of in rates.items()]
    return {**where(), "missing": missing, "rows": rows}


def _rate(words: list[str], folder: Path) -> float:
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            client = [str(folder / "client"), port, str(CONNECTIONS), str(REQUESTS)]
            return float(subprocess.check_output(client, text=True, timeout=_MOST_S))
        finally:
            server.kill()
