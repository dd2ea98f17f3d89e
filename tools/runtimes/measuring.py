"""Measures one language: each way to launch, by the size of the heap, one process at a time."""

from __future__ import annotations

import datetime
import os
import platform
import re
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.runtimes.languages import SIZES, Language, Way

from clonometer.host.facts import collect

_MOST_S = 180.0
#: A heap is measured where this many times its size is available: pages that are written while copied are copied.
_ROOM = 2.0


def where() -> dict[str, Any]:
    """Date, machine, kernel and load."""
    facts = collect()
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "machine": f"{facts['cpu.model']}, {facts['cpu.allowed']} CPUs",
        "kernel": re.sub(r"-.*", "", platform.release()),
        "cpus": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
    }


def version_of(words: Sequence[str]) -> str:
    """The first number with a point that a command prints."""
    text = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    version = re.search(r"\d+(?:\.\d+)+", text)
    return version.group() if version else text.strip()


def measured(language: Language) -> dict[str, Any]:
    """What was measured, as JSON values; times in ns, memory in bytes."""
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as name:
        folder = Path(name)
        language.built(folder)
        before = os.getloadavg()[0]
        rows = [{"way": way.key, "heaps": _heaps(language, way, folder)} for way in language.ways]
        place = where()
        return {
            "version": version_of(language.version),
            **place,
            "load": round(max(before, place["load"]), 1),
            "rows": rows,
        }


def _heaps(language: Language, way: Way, folder: Path) -> list[dict[str, Any]]:
    heaps = []
    for size in SIZES:
        free = available()
        if size * _ROOM > free:
            heaps.append({"size": size, "reason": f"{free} bytes of memory were available"})
        else:
            environment = {**os.environ, **dict(way.variables)}
            heaps.append({"size": size, **_launches(language.command(way, size, folder), environment)})
    return heaps


def available() -> int:
    """Bytes of memory that new programs can have."""
    line = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="utf-8"))
    return int(line.group(1)) * 1024 if line else 0


def _launches(words: Sequence[str], environment: dict[str, str]) -> dict[str, Any]:
    """Start a program, look at its memory when its heap is there, let it launch."""
    with subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError(f"{words[0]}: the heap was not made")
            memory = memory_of(Path(f"/proc/{process.pid}/smaps").read_text(encoding="utf-8"))
            text = process.communicate("launch\n", timeout=_MOST_S)[0]
        finally:
            process.kill()
    if process.returncode != 0:
        raise RuntimeError(f"{words[0]} ended with {process.returncode}")
    return {**memory, **times_of(text)}


def memory_of(smaps: str) -> dict[str, int]:
    """Resident bytes, those of them that a fork leaves out (MADV_DONTFORK), and those in huge pages."""
    sums = {"resident": 0, "left_out": 0, "huge": 0}
    for area in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", smaps):
        values = dict(re.findall(r"(?m)^(\w+):\s+(\d+) kB", area))
        flags = re.search(r"(?m)^VmFlags:(.*)", area)
        resident = int(values.get("Rss", 0)) * 1024
        sums["resident"] += resident
        sums["huge"] += int(values.get("AnonHugePages", 0)) * 1024
        sums["left_out"] += resident if flags and "dc" in flags.group(1).split() else 0
    return sums


def times_of(text: str) -> dict[str, Any]:
    """The fastest launch and the median in ns, until the call returned and until the end.

    They are by whether the heap was written since the last launch.
    """
    times: dict[str, dict[str, list[int]]] = {}
    for kind, call, end in (line.split() for line in text.splitlines()):
        of = times.setdefault(kind, {"call_ns": [], "end_ns": []})
        of["call_ns"].append(int(call))
        of["end_ns"].append(int(end))
    return {
        kind: {name: {"least": min(all_), "median": statistics.median(all_)} for name, all_ in of.items()}
        for kind, of in times.items()
    }
