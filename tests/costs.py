"""What tests cost, measured in every run; by that they are handed out, and `make test` chooses among them.

A run writes `build/costs.txt`, and `make costs` takes over into `tests/costs.txt`, which git keeps, what it says of the
files it ran. What is dearest begins first, and a dear test that shares nothing with its file is handed out alone: no
process ends long after the others. What waits and what computes are handed out side by side, or processors would be
idle first and crowded later.
"""

from __future__ import annotations

import functools
import os
import resource
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.cli import fork_server

KEPT = Path(__file__).with_name("costs.txt")
MEASURED = Path(__file__).parents[1] / "build" / "costs.txt"
#: Cheaper tests have no line, and count as this.
LEAST_S = 0.5
#: The part of all time from which a test is handed out alone: measured on a busy machine, all tests take longer alike.
_LONG = 1 / 500
_SHARED = {"module", "class", "package"}
_BEGAN = pytest.StashKey[tuple[float, float]]()
#: What `make test` spends on a file, and what it spends on its cheapest test at most.
FILE_S, TEST_S = 2.0, 6.0


@dataclass(frozen=True)
class Cost:
    """What a test or a file took: time, and processor time of all processes; whether it shares a fixture."""

    took_s: float
    used_s: float
    shares: bool = False

    def line(self, name: str) -> str:
        """It in a file of costs."""
        return f"{self.took_s:.1f} {self.used_s:.2f} {'shares' if self.shares else '-'} {name}\n"


def used_s() -> float:
    """Processor time of this process, of those it has waited for, and of commands that the fork server ran for it."""
    by_itself = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return by_itself + fork_server.used_s()


def begin(item: pytest.Item) -> None:
    """From here on, time is this test's."""
    item.stash[_BEGAN] = used_s(), time.monotonic()


def end(item: Any, report: pytest.TestReport) -> None:
    """Write onto the report of its last part what the test took."""
    used, began = item.stash[_BEGAN]
    of_names = item._fixtureinfo.name2fixturedefs.values()
    shares = any(definition.scope in _SHARED for definitions in of_names for definition in definitions)
    report.user_properties.append(("cost", (time.monotonic() - began, used_s() - used, shares)))


class Costs:
    """The costs of a run."""

    def __init__(self) -> None:
        self._of_tests: dict[str, Cost] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Take what a report says."""
        for name, value in report.user_properties:
            if name == "cost":
                self._of_tests[report.nodeid] = Cost(*value)

    def of_files(self) -> dict[str, Cost]:
        """Each file's, the dearest first."""
        files: dict[str, list[Cost]] = defaultdict(list)
        for test, cost in self._of_tests.items():
            files[path_of(test)].append(cost)
        sums = {
            path: Cost(sum(cost.took_s for cost in costs), sum(cost.used_s for cost in costs))
            for path, costs in files.items()
        }
        return dict(sorted(sums.items(), key=lambda row: row[1].used_s, reverse=True))

    def write(self) -> None:
        """Write a line for each file, and for each of its tests that is worth one."""
        files = self.of_files()
        long_s = _LONG * sum(cost.took_s for cost in files.values())
        # Where one pays for what others share, it matters who they are.
        shared = {path_of(test) for test, cost in self._of_tests.items() if cost.shares and cost.used_s >= FILE_S}
        tests = {
            test: cost
            for test, cost in self._of_tests.items()
            if cost.used_s >= LEAST_S or cost.took_s >= long_s or (cost.shares and path_of(test) in shared)
        }
        write(MEASURED, files | tests)


def write(path: Path, costs: Mapping[str, Cost]) -> None:
    """Write costs, ordered by names, so that a later version differs little."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(costs[name].line(name) for name in sorted(costs)), encoding="utf-8")


def read(path: Path) -> dict[str, Cost]:
    """Read costs; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    parts = (line.split(" ", 3) for line in lines)
    return {name: Cost(float(took), float(used), shares == "shares") for took, used, shares, name in parts}


@functools.cache
def kept() -> dict[str, Cost]:
    """What git keeps."""
    return read(KEPT)


def keep() -> None:
    """Take over what the last run measured, and forget files that are gone."""
    measured = read(MEASURED)
    files = {path_of(name) for name in measured}
    before = {name: cost for name, cost in read(KEPT).items() if path_of(name) not in files}
    write(KEPT, {name: cost for name, cost in (before | measured).items() if Path(path_of(name)).exists()})


def path_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


@functools.cache
def _long_s() -> float:
    return _LONG * sum(cost.took_s for name, cost in kept().items() if "::" not in name)


def unit(nodeid: str) -> str:
    """What a test is handed out with: itself where it is long and shares nothing, else its file."""
    cost = kept().get(nodeid)
    return nodeid if cost and not cost.shares and cost.took_s >= _long_s() else path_of(nodeid)


def in_company(units: Collection[str]) -> dict[str, float]:
    """Place units from 0 to 1: at any time some that wait and some that compute, the dearest of each first.

    Those that wait take more time than others for the processor time that they use. What is new may be dear, and is
    first.
    """
    of = {name: kept()[name] for name in sorted(units) if name in kept()}
    took_s = sum(cost.took_s for cost in of.values())
    used_s = sum(cost.used_s for cost in of.values())
    places = dict.fromkeys(units, 0.0)
    for waits in (True, False):
        some = [name for name, cost in of.items() if (cost.used_s * took_s < used_s * cost.took_s) == waits]
        some.sort(key=lambda name: -of[name].took_s)
        whole_s = sum(of[name].took_s for name in some) or 1.0
        before_s = 0.0
        for name in some:
            places[name] = before_s / whole_s
            before_s += of[name].took_s
    return places


class ByCosts(LoadScopeScheduling):
    """Hands out units, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def few(tests: Sequence[str], costs: Mapping[str, Cost]) -> set[str]:
    """Choose among the tests of a file as many as are cheap together: each function's cheapest, then further cases.

    Who is first to take what tests share pays for it. One is chosen in any case, unless even the cheapest is dear.
    """
    shared_s = max((costs[test].used_s for test in tests if test in costs and costs[test].shares), default=0.0)
    sharing = {test for test in tests if test in costs and costs[test].shares}
    price = {test: costs[test].used_s if test in costs else LEAST_S / 10 for test in tests}
    functions: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        functions[test.partition("[")[0]].append(test)
    first = set()
    for number, cases in enumerate(functions.values()):
        cheapest = [case for case in cases if price[case] == min(map(price.__getitem__, cases))]
        # Another one for each function: together they meet each driver and each back end.
        first.add(cheapest[number % len(cheapest)])
    ordered = sorted((test not in first, price[test], place, test) for place, test in enumerate(tests))
    chosen: set[str] = set()
    spent_s = 0.0
    for _, alone_s, _, test in ordered:
        takes_s = max(alone_s, shared_s) if test in sharing and not chosen & sharing else alone_s
        if spent_s + takes_s <= (FILE_S if chosen else TEST_S):
            chosen.add(test)
            spent_s += takes_s
    return chosen


def choose(items: Sequence[pytest.Item], whole: Collection[str]) -> list[pytest.Item]:
    """Choose a few tests of each file, and all of those that are to be whole."""
    files: dict[str, list[str]] = defaultdict(list)
    for item in items:
        files[path_of(item.nodeid)].append(item.nodeid)
    chosen = {test for path, tests in files.items() for test in (tests if path in whole else few(tests, kept()))}
    return [item for item in items if item.nodeid in chosen]


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    keep()
