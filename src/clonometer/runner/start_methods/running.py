"""Running the trials of start methods: a process each, bounded in time, with nothing left when it is over."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clonometer.errors import InputError
from clonometer.inputs import parse_json
from clonometer.runner.process import ANSWER_FD, answer_of
from clonometer.runner.start_methods.program import StartProgram, in_full

_UNGUARDED_S = 20.0
_FOLDER = Path(__file__).parent
# The message of this error has lines of its own.
_UNGUARDED_ERROR = "RuntimeError:"


@dataclass(frozen=True)
class StartMethodTrial:
    """What a trial answers: values by name, cases, and why it has no more; None where it ended well."""

    values: Mapping[str, Any] = field(default_factory=dict)
    cases: Sequence[Mapping[str, Any]] = ()
    unavailable: str | None = None
    failure: str | None = None
    interrupted: bool = False


def run_trial(
    program: StartProgram,
    method: str,
    what: str,
    *,
    data_mb: int,
    workers: int,
    timeout_s: float,
    interrupt_fd: int | None = None,
) -> StartMethodTrial:
    """Run a trial: ``what`` is ``times`` or ``cases``. It has the user's whole environment."""
    variables = {
        "CLONOMETER_START_CODE": program.code,
        "CLONOMETER_START_PROGRAM": json.dumps(list(program.words)),
        "CLONOMETER_START_DATA_MB": str(data_mb),
        "CLONOMETER_START_WORKERS": str(workers),
    }
    answer, ending = answer_of(
        [*program.words, str(_FOLDER / "trial.py"), method, what, ANSWER_FD],
        timeout_s=timeout_s,
        interrupt_fd=interrupt_fd,
        environment={**os.environ, **variables},
    )
    return _read(answer, in_full(ending), interrupted=ending.stopped == "interrupt")


def run_unguarded(program: StartProgram, method: str, interrupt_fd: int | None = None) -> str | None:
    """Start a worker from a program that is not guarded; say what came of it, None where it worked."""
    answer, ending = answer_of(
        [*program.words, str(_FOLDER / "unguarded.txt"), method, ANSWER_FD],
        timeout_s=_UNGUARDED_S,
        interrupt_fd=interrupt_fd,
        environment=dict(os.environ),
    )
    if answer.strip() == b"0":
        return None
    _, error, message = ending.stderr.rpartition(_UNGUARDED_ERROR)
    return " ".join(f"{error}{message}".split())[:150] if error else f"the program {ending.describe()}"


def _read(answer: bytes, ended: str, *, interrupted: bool) -> StartMethodTrial:
    """Put the lines together; where there is no last one, say in what it ended."""
    values: dict[str, Any] = {}
    cases = []
    for line in answer.decode("utf-8", "replace").splitlines():
        try:
            each = parse_json(line)
        except InputError:
            # Its last words, cut off.
            continue
        if "case" in each:
            cases.append(each)
        else:
            values |= each
    failure = values.get("failed")
    if failure is None and not values.get("done") and "unavailable" not in values:
        failure = f"{ended}, in {values.get('step', 'the import')}"
    return StartMethodTrial(values, tuple(cases), values.get("unavailable"), failure, interrupted)
