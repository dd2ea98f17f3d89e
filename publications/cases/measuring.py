"""Measures a case: a census of each side, and pairs of both in turn, in random order."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from publications.cases.case import Case

from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.signed_rank import SignedRank

_CLONOMETER = str(Path(sys.executable).with_name("clonometer"))
LEAST_PAIRS, _MOST_PAIRS, _BUDGET_S = 6, 20, 60.0
_MOST_S = 120.0
_NO_ROOT = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def measured(case: Case) -> dict[str, Any]:
    """What was measured, as JSON values; times in seconds, those of a census in ns."""
    with tempfile.TemporaryDirectory(prefix="clonometer-case-") as name:
        folder = Path(name)
        variables = case.lay_out(folder)
        start = _Starter(case, folder, {**os.environ, **variables})
        load = os.getloadavg()[0]
        censuses = {side: start.census(side) for side in ("before", "after")}
        pairs = _pairs(start)
        return {
            "version": _first_line(with_python(case.version)),
            "load": max(load, os.getloadavg()[0]),
            "cpus": len(os.sched_getaffinity(0)),
            "census": censuses,
            "pairs": pairs,
            **_compared(pairs),
        }


def with_python(words: Sequence[str]) -> list[str]:
    """A command in which ``{python}`` is the Python that runs this."""
    return [sys.executable if word == "{python}" else word for word in words]


class _Starter:
    def __init__(self, case: Case, folder: Path, environment: Mapping[str, str]) -> None:
        self._case, self._folder, self._environment = case, folder, environment

    def _words(self, side: str) -> Sequence[str]:
        words: Sequence[str] = with_python(getattr(self._case, side))
        return [*_NO_ROOT, *words] if self._case.ordinary_user and os.geteuid() == 0 else words

    def seconds(self, side: str) -> float:
        """Run one side; what is measured of it."""
        began = time.perf_counter()
        ended = subprocess.run(
            self._words(side),
            cwd=self._folder,
            env=self._environment,
            check=True,
            timeout=_MOST_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        took_s = time.perf_counter() - began
        return took_s if self._case.measures == "wall" else float(ended.stdout.split()[-1])

    def census(self, side: str) -> dict[str, Any]:
        """Which tasks one side creates, with the launches that cost most."""
        words = [_CLONOMETER, "census", "--json", "--no-advice", "--", *self._words(side)]
        text = subprocess.run(
            words,
            cwd=self._folder,
            env=self._environment,
            check=True,
            timeout=_MOST_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ).stdout
        answer = json.loads(text)
        creators, launches = (self._of_creator(answer[key]) for key in ("creators", "launches"))
        if self._case.creator:
            answer["tasks_created"] = sum(each["created"] for each in creators)
            answer["creating_ns"] = sum(each["cost_ns"] or 0 for each in creators)
        kept = {key: answer[key] for key in ("tasks_created", "creating_ns", "how")}
        return {**kept, "launches": _by_line(launches)[:3], "creators": _by_mechanism(creators)}

    def _of_creator(self, groups: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those of the program whose tasks are counted."""
        wanted = self._case.creator
        return [each for each in groups if not wanted or PurePath(each["program"] or "").name == wanted]


def _by_line(launches: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What each line created in one way, the most expensive first."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for launch in launches:
        where = launch["where"] or {"file": None, "line": None}
        key = (launch["title"], where["file"], where["line"], launch["mechanism"])
        of = dict(zip(("title", "file", "line", "mechanism"), key, strict=True))
        line = lines.setdefault(key, {**of, "created": 0, "cost_ns": 0})
        line["created"] += launch["created"]
        line["cost_ns"] += launch["cost_ns"] or 0
    return sorted(lines.values(), key=lambda line: -line["cost_ns"])


def _by_mechanism(creators: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What each mechanism made: how many tasks, the typical making of the group that made most, and the cost."""
    ways: dict[str, dict[str, Any]] = {}
    for creator in sorted(creators, key=lambda each: -each["created"]):
        way = ways.setdefault(
            creator["mechanism"],
            {"mechanism": creator["mechanism"], "created": 0, "cost_ns": 0, "making_ns": creator["making_median_ns"]},
        )
        way["created"] += creator["created"]
        way["cost_ns"] += creator["cost_ns"] or 0
    return sorted(ways.values(), key=lambda way: -way["cost_ns"])


def _pairs(start: _Starter) -> list[dict[str, float]]:
    """Both sides in turn, the first one drawn; each is started once before."""
    for side in ("before", "after"):
        start.seconds(side)
    pairs: list[dict[str, float]] = []
    began = time.monotonic()
    while len(pairs) < LEAST_PAIRS or (len(pairs) < _MOST_PAIRS and time.monotonic() - began < _BUDGET_S):
        order = random.sample(("before", "after"), 2)
        pairs.append({side: start.seconds(side) for side in order})
    return pairs


def _compared(pairs: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Medians with their 95% intervals, and how many times faster the second side is: an exact test of pairs."""
    sides = {}
    for side in ("before", "after"):
        median = quantile_interval([pair[side] for pair in pairs])
        sides[side] = [median.value, median.low, median.high]
    test = SignedRank([math.log(pair["before"] / pair["after"]) for pair in pairs])
    return {
        **sides,
        "faster": [math.exp(test.value), *map(math.exp, test.interval(0.05))],
        "p_value": test.p_value,
        "after_faster": sum(pair["after"] < pair["before"] for pair in pairs),
    }


def _first_line(words: Sequence[str]) -> str:
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return ended.stdout.strip().partition("\n")[0]
