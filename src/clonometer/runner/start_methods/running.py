"""Running the trials of start methods: a process each, bounded in time, with nothing left when it is over."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clonometer.errors import CommandError, UsageError
from clonometer.runner.process import ANSWER_FD, answer_of

_FOLDER = Path(__file__).parent
# The second is no module: whatever imports all modules must not run it.
_TRIAL, _UNGUARDED = str(_FOLDER / "trial.py"), str(_FOLDER / "unguarded.txt")
_IDENTIFY_S, _UNGUARDED_S, _IMPORT_S = 30.0, 20.0, 120.0
_OLDEST = (3, 8)
#: What starts processes: a program without a guard is tried with these alone.
PROCESS_METHODS = ("fork", "forkserver", "spawn")
_IDENTIFY = (
    "import json, multiprocessing, platform, sys; print(json.dumps([list(sys.version_info[:3]), "
    "platform.python_implementation(), multiprocessing.get_start_method()]))"
)


@dataclass(frozen=True)
class PythonProgram:
    """An interpreter of the user's: its words with options, its version and the method that it uses by default."""

    words: Sequence[str]
    version: str
    implementation: str
    default_method: str


@dataclass(frozen=True)
class StartMethodTrial:
    """What a trial answer: values by name, cases, and why it has no more; None where it ended well."""

    values: Mapping[str, Any] = field(default_factory=dict)
    cases: Sequence[Mapping[str, Any]] = ()
    unavailable: str | None = None
    failure: str | None = None
    interrupted: bool = False


def identify_python(words: Sequence[str]) -> PythonProgram:
    """Ask an interpreter which it is.

    Raises
    ------
    UsageError
        If it is none, or older than 3.8.
    DriverError
        If it cannot be started.
    """
    answer, ending = answer_of([*words, "-c", _IDENTIFY], timeout_s=_IDENTIFY_S, environment=dict(os.environ))
    try:
        version, implementation, method = json.loads(answer.splitlines()[-1])
        text = ".".join(map(str, version))
        is_old = tuple(version) < _OLDEST
    except (ValueError, IndexError, TypeError):
        raise UsageError(
            f"{words[0]} is no Python 3: {ending.in_full}", "--python PATH names the interpreter"
        ) from None
    if is_old:
        raise UsageError(f"{words[0]} is Python {text}, which is too old", "start methods are tried from 3.8 on")
    return PythonProgram(tuple(words), text, str(implementation), str(method))


def check_imports(python: PythonProgram, code: str) -> None:
    """Import once what all trials import, so that its files are in memory.

    Raises
    ------
    CommandError
        If that fails.
    """
    _, ending = answer_of([*python.words, "-c", code], timeout_s=_IMPORT_S, environment=dict(os.environ))
    if ending.exit_status != 0:
        raise CommandError(f"the import {ending.in_full}", f"{python.words[0]} -c {code!r} shows it in full")


def run_trial(
    python: PythonProgram,
    method: str,
    what: str,
    *,
    code: str,
    data_mb: int,
    workers: int,
    timeout_s: float,
    interrupt_fd: int | None = None,
) -> StartMethodTrial:
    """Run a trial: ``what`` is ``times`` or ``cases``. It has the user's whole environment."""
    variables = {
        "CLONOMETER_START_CODE": code,
        "CLONOMETER_START_DATA_MB": str(data_mb),
        "CLONOMETER_START_WORKERS": str(workers),
    }
    answer, ending = answer_of(
        [*python.words, _TRIAL, method, what, ANSWER_FD],
        timeout_s=timeout_s,
        interrupt_fd=interrupt_fd,
        environment={**os.environ, **variables},
    )
    return _read(answer, ending.in_full, interrupted=ending.stopped == "interrupt")


def run_unguarded(python: PythonProgram, method: str, interrupt_fd: int | None = None) -> str | None:
    """Start a worker from a program without a guard; say what came of it, None where it worked."""
    answer, ending = answer_of(
        [*python.words, _UNGUARDED, method, ANSWER_FD],
        timeout_s=_UNGUARDED_S,
        interrupt_fd=interrupt_fd,
        environment=dict(os.environ),
    )
    if answer.strip() == b"0":
        return None
    # The message of this error has lines of its own.
    _, error, message = ending.stderr.rpartition("RuntimeError:")
    return " ".join(f"{error}{message}".split())[:150] if error else f"the program {ending.describe()}"


def _read(answer: bytes, ended: str, *, interrupted: bool) -> StartMethodTrial:
    """Put the lines together; where there is no last one, say in what it ended."""
    values: dict[str, Any] = {}
    cases = []
    for line in answer.decode("utf-8", "replace").splitlines():
        try:
            each = json.loads(line)
        except ValueError:
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
