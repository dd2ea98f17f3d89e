"""Measures one language: each way to launch, by the size of the heap, in rounds, a process at a time.

A round starts a program for each size and each set of options. Within it the ways launch in turn. Each has the heap
written first and launches, and launches again with nothing written: that fork sees the pages as the first one left
them. Programs run in the class rr once their heap is made, where that is allowed.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from publications.runtimes.held import HeldHeap, held
from publications.runtimes.languages import SIZES, Language, Way
from publications.runtimes.quiet import QUIET, Others

from clonometer.host.facts import collect
from clonometer.units import approximate_bytes

KINDS = ("written", "untouched")
_QUANTITIES = ("call_ns", "end_ns")
#: A language has so many rounds, fewer if they take longer than that: the lock is others' too.
ROUNDS, _MOST_S = 4, 90.0
#: A heap is measured if this many times its size is available: pages that are written while copied are copied.
_ROOM = 2.0
#: Who has just used a CPU for long loses it to others at the next chance.
_REST_S = 0.02


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
        # Some become another user.
        folder.chmod(0o755)
        language.built(folder)
        load = os.getloadavg()[0]
        began = time.monotonic()
        rounds: list[list[dict[str, Any]]] = []
        longest = 0.0
        while len(rounds) < ROUNDS and time.monotonic() - began + longest < _MOST_S:
            started = time.monotonic()
            rounds.append(list(_round(language, folder)))
            longest = max(longest, time.monotonic() - started)
        place = where()
        visits = [visit for each in rounds for visit in each]
        return {
            "version": version_of(language.version),
            **place,
            "load": round(max(load, place["load"]), 1),
            "rounds": len(rounds),
            "scheduling": "other" if any(visit.get("class") == "other" for visit in visits) else "rr",
            "rows": [_row(way, visits) for way in language.ways],
        }


def _round(language: Language, folder: Path) -> Iterable[dict[str, Any]]:
    """The visits of a round: of each size and each set of options one."""
    for size, launches in SIZES.items():
        for _, ways in groupby(language.ways, lambda way: (way.options, way.variables)):
            free = available()
            if size * _ROOM > free:
                reason = (
                    f"{approximate_bytes(free)} of memory were available, {approximate_bytes(size * _ROOM)} are needed"
                )
                yield {"size": size, "reason": reason, "times": {}}
            else:
                yield {"size": size, **_visit(language, list(ways), size, launches, folder)}


def _visit(language: Language, ways: Sequence[Way], size: int, launches: int, folder: Path) -> dict[str, Any]:
    """Start a program, look at its memory, let it launch in each of these ways in turn."""
    times: dict[tuple[str, str], list[tuple[int, int]]] = {(way.key, kind): [] for way in ways for kind in KINDS}
    with held(language.command(ways[0], size, folder), ways[0].variables) as program:
        memory = program.memory()
        is_first = program.run_before_others()
        for way in ways:
            program.launch(way.word)
        others = Others(program.cpu_ticks)
        for _ in range(launches):
            for way in ways:
                for kind in KINDS:
                    times[way.key, kind].append(_launch(program, way, kind))
        share = others.share()
    return {**memory, "class": "rr" if is_first else "other", "others": share, "times": times}


def _launch(program: HeldHeap, way: Way, kind: str) -> tuple[int, int]:
    if kind == "written":
        program.write()
    time.sleep(_REST_S)
    return program.launch(way.word)


def _row(way: Way, visits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the visits say of a way, by the size of the heap."""
    heaps = []
    for size in SIZES:
        of_size = [visit for visit in visits if visit["size"] == size]
        seen = [visit for visit in of_size if (way.key, KINDS[0]) in visit["times"]]
        if seen:
            heaps.append({"size": size, **_heap(way, seen)})
        else:
            heaps.append({"size": size, "reason": of_size[0]["reason"]})
    return {"way": way.key, "heaps": heaps}


def _heap(way: Way, visits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    quiet = [visit for visit in visits if visit["others"] <= QUIET]
    return {
        **{key: visits[-1][key] for key in ("resident", "left_out", "huge")},
        "rounds": len(visits),
        "quiet": len(quiet),
        **{kind: summarized([visit["times"][way.key, kind] for visit in quiet or visits]) for kind in KINDS},
    }


def summarized(rounds: Sequence[Sequence[tuple[int, int]]]) -> dict[str, Any]:
    """Of each quantity the median of the rounds' medians, and the least of all launches, in ns."""
    summary = {}
    for index, name in enumerate(_QUANTITIES):
        medians = [statistics.median(launch[index] for launch in launches) for launches in rounds]
        least = min(launch[index] for launches in rounds for launch in launches)
        summary[name] = {"median": round(statistics.median(medians)), "least": least}
    return summary


def available() -> int:
    """Bytes of memory that new programs can have."""
    line = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="utf-8"))
    return int(line.group(1)) * 1024 if line else 0
