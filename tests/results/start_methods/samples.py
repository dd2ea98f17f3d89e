"""An answer of start methods, made by what makes real ones, of trials that are made up."""

from __future__ import annotations

from typing import Any

from clonometer.app.start_method import MethodTrials, answer_of_trials
from clonometer.results.start_methods.types import StartMethodAnswer
from clonometer.runner.interfaces import SILENT
from clonometer.runner.start_methods.program import METHODS, StartProgram
from clonometer.runner.start_methods.running import StartMethodTrial

PROGRAM = StartProgram(("python3",), "import <b>x</b>", "3.12.1", "CPython", "fork", "GIL")
#: What a later worker takes with each, in ms: forkserver and spawn scatter around each other.
LATER_MS = {"fork": 10.0, "forkserver": 30.0, "spawn": 30.0, "thread": 1.0}


class FakeRuns:
    """Trials by method: a turn of forkserver is now above, now below one of spawn; no sub-interpreters."""

    def __init__(self, **overridden: StartMethodTrial) -> None:
        self.turns: list[tuple[str, str]] = []
        self.overridden = overridden

    def __call__(self, method: str, what: str) -> StartMethodTrial:
        self.turns.append((method, what))
        if method in self.overridden:
            return self.overridden[method]
        if method == "interpreter":
            return StartMethodTrial(unavailable="needs another Python")
        if what == "cases":
            cases = [{"case": "threads", "outcome": "warns", "words": "<b>threads</b>"}]
            return StartMethodTrial({}, cases, failure="was killed by SIGSEGV, in lock")
        count = self.turns.count((method, what))
        factor = 1 + count / 100 + (0.5 if method == "forkserver" and count % 2 else 0.0)
        factor -= 0.2 if method == "forkserver" and not count % 2 else 0.0
        ns = LATER_MS[method] * 1e6 * factor
        values: dict[str, Any] = {
            "imports_ns": 1e6,
            "threads": 3,
            "first_ns": 2 * ns,
            "later_ns": ns,
            "pool_ns": 3 * ns,
        }
        values |= {"task_ns": ns / 100, "compute_ns": 4e7, "memory_bytes": 10**7, "private_bytes": 10**6}
        return StartMethodTrial({**values, "done": True})


def trials_of(runs: FakeRuns, rounds: int = 8) -> MethodTrials:
    trials = MethodTrials(runs, lambda method: "RuntimeError: no guard" if method == "spawn" else None, lambda: 0.0)
    trials.try_cases(SILENT)
    trials.measure(rounds, 60.0, 1, SILENT)
    return trials


def start_methods(rounds: int = 8, **overridden: StartMethodTrial) -> StartMethodAnswer:
    trials = trials_of(FakeRuns(**overridden), rounds)
    return answer_of_trials(PROGRAM, trials, data_bytes=1 << 20, workers=2, wanted=rounds, seed=1)


assert set(LATER_MS) < set(METHODS)
