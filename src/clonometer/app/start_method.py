"""``start-method``: what each way to start workers costs and breaks in the user's Python."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.errors import NotStartedError, UsageError
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.putting_back import put_back_first

if TYPE_CHECKING:
    from clonometer.results.start_methods.types import StartMethodAnswer, StartMethodCase, StartMethodRow
    from clonometer.runner.start_methods.program import StartProgram
    from clonometer.runner.start_methods.running import StartMethodTrial

__all__ = ["start_method"]

#: The Python of modules where none is named.
_USUAL = "python3"
_FAILURES_UNTIL_GIVEN_UP = 2
_MEGABYTE = 1 << 20
#: Of a trial.
_TIMEOUT_S = 120.0
#: What a trial says of a worker that hangs.
_NO_RESULT = "no result within"
_NAMES = {
    "first": "first_ns",
    "later": "later_ns",
    "pool": "pool_ns",
    "task": "task_ns",
    "compute": "compute_ns",
    "memory": "memory_bytes",
    "private": "private_bytes",
}

#: Runs the trial of a method, named here first, of its times or of its cases.
RunTrial = Callable[[str, str], "StartMethodTrial"]


@shown_as("start_method", "start_method_document")
def start_method(
    words: Sequence[str] = (),
    *,
    imports: Sequence[str] = (),
    runtime: str | None = None,
    data_mb: int = 0,
    workers: int = 2,
    rounds: int = 8,
    budget_s: float = 120.0,
    seed: int | None = None,
    progress: Progress = SILENT,
) -> StartMethodAnswer:
    """Measure what each start method of a Python costs, and try what breaks.

    Parameters
    ----------
    words
        A command, such as ``python -c CODE``, whose code is what a program imports. Call from the main thread.
    imports
        Modules that are imported, in place of a command.
    runtime
        The Python; by default that of the command, else ``python3``.
    data_mb
        MB of small objects that every worker looks at.
    workers
        How many a pool has.
    rounds
        In each, every method has its turn.
    budget_s
        No round begins later, in seconds.
    seed
        Fixes the order; by default it is drawn.
    progress
        Watches.

    Raises
    ------
    UsageError
        If the command is not of that form, or the runtime is too old or no Python.
    NotStartedError
        If there is no such runtime.
    CommandError
        If the import fails.
    KeyboardInterrupt
        The user has had enough before anything was measured.
    """
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.start_methods.program import check_imports
    from clonometer.runner.start_methods.running import run_trial, run_unguarded

    program, seed = _program(words, imports, runtime), draw_seed(seed)
    check_imports(program)
    with interruption() as interrupted:

        def run(method: str, what: str) -> StartMethodTrial:
            return run_trial(
                program, method, what, data_mb=data_mb, workers=workers, timeout_s=_TIMEOUT_S,
                interrupt_fd=interrupted.descriptor,
            )  # fmt: skip

        trials = MethodTrials(run, lambda method: run_unguarded(program, method, interrupted.descriptor))
        put_back_first(progress)
        progress.starts_begin()
        try:
            trials.try_cases(progress)
            trials.measure(rounds, budget_s, seed, progress)
        finally:
            progress.run_ended("", None)
        if interrupted.wanted and not trials.rounds:
            raise KeyboardInterrupt
    return answer_of_trials(program, trials, data_bytes=data_mb * _MEGABYTE, workers=workers, wanted=rounds, seed=seed)


def _program(words: Sequence[str], imports: Sequence[str], runtime: str | None) -> StartProgram:
    from clonometer.app.commands import check_command
    from clonometer.runner.start_methods.program import (
        USAGE,
        code_that_imports,
        identify_program,
        is_python,
        split_command,
    )

    name = runtime or (words[0] if words else _USUAL)
    if not is_python(name):
        raise UsageError(f"{name!r} is no Python, and only Python's start methods are known", USAGE)
    if words and imports:
        raise UsageError("a command and --import exclude each other", USAGE)
    options, code = split_command(words) if words else ([name], code_that_imports(imports))
    try:
        check_command(name)
    except NotStartedError as error:
        error.hint = error.hint or "the package python3 brings one"
        raise
    return identify_program([name, *options[1:]], code)


@dataclass
class MethodTrials:
    """Runs the trials of all methods; what came of them.

    Attributes
    ----------
    rounds
        Of each, the values by method and quantity.
    cases
        What was tried, by method.
    reasons
        Why a method is unavailable or has failed: the status and the reason, of its last failure.
    """

    run: RunTrial
    run_unguarded: Callable[[str], str | None]
    clock: Callable[[], float] = time.monotonic
    rounds: list[dict[str, dict[str, float]]] = field(default_factory=list)
    cases: dict[str, list[StartMethodCase]] = field(default_factory=dict)
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    imports_ns: list[float] = field(default_factory=list)
    threads: int | None = None
    ended_by: str | None = None

    def try_cases(self, progress: Progress) -> None:
        """Try with each method what breaks. One whose workers all hang has failed, and is given up."""
        from clonometer.results.start_methods.types import WARNS, WORKS
        from clonometer.runner.start_methods.program import METHODS

        began_s = self.clock()
        for method, name in METHODS.items():
            progress.start_begins(f"what breaks: {name}", self.clock() - began_s, None)
            trial = self.run(method, "cases")
            if trial.interrupted:
                self.ended_by = "interrupted"
                return
            if trial.unavailable is not None:
                self.reasons[method] = ("unavailable", trial.unavailable)
                continue
            late = [each["words"] for each in trial.cases if _NO_RESULT in (each["words"] or "")]
            # Other cases may fail before a worker is asked at all.
            if len(late) > 1 and not any(each["outcome"] in (WORKS, WARNS) for each in trial.cases):
                self.reasons[method] = ("failed", f"no worker gave a result: {late[0]}")
                self.failures[method] = _FAILURES_UNTIL_GIVEN_UP
            self.cases[method] = self._cases(method, trial)

    def _cases(self, method: str, trial: StartMethodTrial) -> list[StartMethodCase]:
        from clonometer.results.start_methods.types import BREAKS, NOT_TRIED, UNKNOWN, WORKS, StartMethodCase
        from clonometer.runner.start_methods.program import CASES, GUARD, GUARDED

        tried = {each["case"]: each for each in trial.cases}
        tried[GUARD] = {"outcome": NOT_TRIED, "words": None}
        if method in GUARDED:
            words = self.run_unguarded(method)
            tried[GUARD] = {"outcome": WORKS if words is None else BREAKS, "words": words}
        left = {"outcome": UNKNOWN, "words": trial.failure}
        # The one in which the trial ended is the first that it says nothing of.
        return [
            StartMethodCase(case, name, **{key: tried.get(case, left)[key] for key in ("outcome", "words")})
            for case, name in CASES.items()
        ]

    def measure(self, rounds: int, budget_s: float, seed: int, progress: Progress) -> None:
        """Measure in rounds; in each every method has its turn, in random order. The first always ends."""
        from clonometer.runner.start_methods.program import METHODS

        began_s, order = self.clock(), random.Random(seed)
        for number in range(rounds):
            elapsed_s = self.clock() - began_s
            if self.ended_by is not None or (number and elapsed_s * (number + 1) / number > budget_s):
                self.ended_by = self.ended_by or f"the budget of {budget_s:g} s was spent"
                return
            methods = [each for each in METHODS if self._is_usable(each)]
            values: dict[str, dict[str, float]] = {}
            for method in order.sample(methods, len(methods)):
                left_s = elapsed_s / number * (rounds - number) if number else None
                what = f"round {number + 1} of at most {rounds}: {METHODS[method]}"
                progress.start_begins(what, self.clock() - began_s, left_s)
                trial = self.run(method, "times")
                if trial.interrupted:
                    self.ended_by = "interrupted"
                    break
                values[method] = self._take(method, trial)
            if any(values.values()):
                self.rounds.append(values)

    def _is_usable(self, method: str) -> bool:
        status, _ = self.reasons.get(method, ("", ""))
        return status != "unavailable" and self.failures.get(method, 0) < _FAILURES_UNTIL_GIVEN_UP

    def _take(self, method: str, trial: StartMethodTrial) -> dict[str, float]:
        if trial.unavailable is not None:
            self.reasons[method] = ("unavailable", trial.unavailable)
            return {}
        values = trial.values
        if "imports_ns" in values:
            self.imports_ns.append(float(values["imports_ns"]))
            self.threads = max(self.threads or 0, int(values["threads"]))
        if trial.failure is not None:
            self.failures[method] = self.failures.get(method, 0) + 1
            self.reasons[method] = ("failed", trial.failure)
        return {quantity: float(values[key]) for quantity, key in _NAMES.items() if values.get(key) is not None}


def answer_of_trials(
    program: StartProgram, trials: MethodTrials, *, data_bytes: int, workers: int, wanted: int, seed: int
) -> StartMethodAnswer:
    """Make the answer of what the trials gave; ``wanted`` is how many rounds were asked for."""
    from clonometer.results.start_methods.ranking import rank_methods
    from clonometer.results.start_methods.types import StartMethodAnswer
    from clonometer.runner.start_methods.program import METHODS
    from clonometer.stats.quantiles import quantile_interval

    rows = [_row(method, program, trials) for method in METHODS]
    is_whole = trials.ended_by is None and len(trials.rounds) == wanted
    status = "complete" if is_whole else "partial" if trials.rounds else "failed"
    return StartMethodAnswer(
        status=status,
        status_reason=trials.ended_by,
        program=program.words,
        version=program.version,
        implementation=program.implementation,
        lock=program.lock,
        code=program.code,
        data_bytes=data_bytes,
        workers=workers,
        cpus=len(os.sched_getaffinity(0)),
        rounds=len(trials.rounds),
        seed=seed,
        imports_ns=quantile_interval(trials.imports_ns).value if trials.imports_ns else None,
        threads=trials.threads,
        rows=rows,
        rankings=rank_methods(trials.rounds, seed),
    )


def _row(method: str, program: StartProgram, trials: MethodTrials) -> StartMethodRow:
    from clonometer.results.start_methods.ranking import method_figures
    from clonometer.results.start_methods.types import StartMethodRow
    from clonometer.runner.start_methods.program import METHODS

    figures = method_figures(trials.rounds, method)
    status, reason = trials.reasons.get(method, ("measured" if figures else "not run", None))
    failures: Mapping[str, int] = trials.failures
    status = "measured" if len(figures) == len(_NAMES) and status == "failed" else status
    return StartMethodRow(
        method, METHODS[method], method == program.default_method, status, reason, failures.get(method, 0), figures,
        trials.cases.get(method, []),
    )  # fmt: skip
