"""Running the trials of start methods: a process each, bounded in time, with nothing left when it is over."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer.errors import CommandError, InputError, UsageError
from clonometer.inputs import parse_json
from clonometer.launch_paths.versions import numbers
from clonometer.runner.process import ANSWER_FD, Ending, answer_of
from clonometer.runner.start_methods.languages import StartLanguage

_IDENTIFY_S, _UNGUARDED_S, _IMPORT_S = 30.0, 20.0, 120.0
_LONGEST_WORDS = 200


@dataclass(frozen=True)
class StartProgram:
    """A runtime of the user's: its words with options, the code that a program imports, and what it is.

    ``default_method`` is the one that it uses where none is named, ``lock`` the one by which its threads take turns;
    None where there is none.
    """

    language: StartLanguage
    words: Sequence[str]
    code: str
    version: str
    implementation: str
    default_method: str | None
    lock: str | None


@dataclass(frozen=True)
class StartMethodTrial:
    """What a trial answers: values by name, cases, and why it has no more; None where it ended well."""

    values: Mapping[str, Any] = field(default_factory=dict)
    cases: Sequence[Mapping[str, Any]] = ()
    unavailable: str | None = None
    failure: str | None = None
    interrupted: bool = False


def identify_program(language: StartLanguage, words: Sequence[str], code: str) -> StartProgram:
    """Ask a runtime which it is.

    Raises
    ------
    UsageError
        If it is none of this language, or too old, or if the code cannot be tried.
    DriverError
        If it cannot be started.
    """
    if language.refused and re.search(language.refused.pattern, code):
        raise UsageError(language.refused.why, language.refused.hint)
    asked = [words[0], language.code[0], language.identify]
    answer, ending = answer_of(asked, timeout_s=_IDENTIFY_S, environment=dict(os.environ))
    try:
        version, implementation, method, lock = parse_json(answer.splitlines()[-1])
        is_old = numbers(version) < numbers(language.oldest)
    except (InputError, ValueError, IndexError, TypeError):
        raise UsageError(
            f"{words[0]} is no usable {language.title}: {_in_full(language, ending)}", language.usage
        ) from None
    if is_old:
        hint = f"start methods are tried from {language.title} {language.oldest} on"
        raise UsageError(f"{words[0]} is {language.title} {version}, which is too old", hint)
    return StartProgram(language, tuple(words), code, version, implementation, method, lock)


def check_imports(program: StartProgram) -> None:
    """Import once what all trials import, so that its files are in memory.

    Raises
    ------
    CommandError
        If that fails.
    """
    language = program.language
    argv = [*program.words, *_filled(language.check, {"code": program.code})]
    _, ending = answer_of(argv, timeout_s=_IMPORT_S, environment=dict(os.environ))
    if ending.exit_status != 0:
        shown = f"{program.words[0]} {language.code[0]} {program.code!r} shows it in full"
        raise CommandError(f"the import {_in_full(language, ending)}", shown)


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
    language = program.language
    variables = {
        "CLONOMETER_START_CODE": program.code,
        "CLONOMETER_START_PROGRAM": json.dumps(list(program.words)),
        "CLONOMETER_START_DATA_MB": str(data_mb),
        "CLONOMETER_START_WORKERS": str(workers),
    }
    parts = {"folder": str(language.folder), "code": program.code, "method": method, "what": what, "fd": ANSWER_FD}
    is_module = language.es_module and re.search(language.es_module, "\n".join([*program.words, program.code]))
    parts["resolver"] = language.resolver if is_module else ""
    answer, ending = answer_of(
        [*program.words, *_filled(language.run, parts)],
        timeout_s=timeout_s,
        interrupt_fd=interrupt_fd,
        environment={**os.environ, **variables},
    )
    return _read(answer, _in_full(language, ending), interrupted=ending.stopped == "interrupt")


def run_unguarded(program: StartProgram, method: str, interrupt_fd: int | None = None) -> str | None:
    """Start a worker from a program that is not guarded; say what came of it, None where it worked."""
    unguarded = program.language.unguarded
    assert unguarded is not None  # Whoever has no such program has no such case.
    parts = {"folder": str(program.language.folder), "method": method, "fd": ANSWER_FD}
    answer, ending = answer_of(
        [*program.words, *_filled(unguarded.run, parts)],
        timeout_s=_UNGUARDED_S,
        interrupt_fd=interrupt_fd,
        environment=dict(os.environ),
    )
    if answer.strip() == b"0":
        return None
    # The message of this error has lines of its own.
    _, error, message = ending.stderr.rpartition(unguarded.error)
    return " ".join(f"{error}{message}".split())[:150] if error else f"the program {ending.describe()}"


def _filled(words: Sequence[str], parts: Mapping[str, str]) -> list[str]:
    """The words with their parts; a word of the user's may have braces, and is put in as it is."""
    return [re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], word) for word in words]


def _in_full(language: StartLanguage, ending: Ending) -> str:
    """How a process ended, with the line of its errors that says what was wrong."""
    lines = [line.strip() for line in ending.stderr.splitlines() if re.search(language.error, line.strip())]
    if not lines:
        return ending.in_full
    return f"{ending.describe()}: {lines[-1][:_LONGEST_WORDS]}"


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
