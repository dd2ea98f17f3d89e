"""A Python whose start methods are tried: how its command looks, and which methods and cases there are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clonometer.errors import CommandError, InputError, UsageError
from clonometer.inputs import parse_json
from clonometer.launch_paths.versions import numbers
from clonometer.runner.process import Ending, answer_of

#: By their names, what people call them.
METHODS = {
    "fork": "fork",
    "forkserver": "forkserver",
    "spawn": "spawn",
    "thread": "thread",
    "interpreter": "sub-interpreter",
}
#: Tried by a program of its own, since it is that program which is not guarded.
GUARD = "guard"
#: Methods that import the program again.
GUARDED = ("fork", "forkserver", "spawn")
#: What is tried of each, in words.
CASES = {
    "threads": "a thread is running",
    "lock": "a thread holds a lock",
    "lambda": "a function that cannot be pickled",
    "state": "a global set after the import",
    "descriptor": "a file descriptor by number",
    "chdir": "a worker changes its folder alone",
    GUARD: "no if __name__ == '__main__'",
}
USAGE = "clonometer start-method -- python -c 'import mymodule'"
#: The oldest version for which the trial is.
_OLDEST = "3.8"
_WITH_WORD = ("-W", "-X")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
# Prints as JSON: the version, the implementation, the default method, the lock that threads take turns by.
_IDENTIFY = """
import json, multiprocessing, platform, sys
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
implementation = platform.python_implementation()
lock = ("GIL" if gil else "no GIL") if implementation in ("CPython", "PyPy") else None
version = ".".join(map(str, sys.version_info[:3]))
print(json.dumps([version, implementation, multiprocessing.get_start_method(), lock]))
"""
# Which line of its errors says what was wrong.
_ERROR = re.compile(r"^[\w.]*(Error|Exception|Interrupt|Exit|Warning)\b.*")
_LONGEST_WORDS = 200
_IDENTIFY_S, _IMPORT_S = 30.0, 120.0


@dataclass(frozen=True)
class StartProgram:
    """A Python of the user's: its words with options, the code that a program imports, and what it is.

    ``default_method`` is the one that it uses where none is named, ``lock`` the one by which its threads take turns;
    None where there is none.
    """

    words: Sequence[str]
    code: str
    version: str
    implementation: str
    default_method: str | None
    lock: str | None


def is_python(program: str) -> bool:
    """Whether the name of a file, or of what that is a link to, is one of Pythons.

    Examples
    --------
    >>> is_python("/opt/python3.14t/bin/python3.14t"), is_python("ruby")
    (True, False)
    """
    path = Path(program)
    return any(name.startswith(("python", "pypy")) for name in (path.name, path.resolve().name))


def code_that_imports(modules: Sequence[str]) -> str:
    """The code that imports modules.

    Raises
    ------
    UsageError
        If one is no name of a module.
    """
    for name in modules:
        if not _MODULE.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a module", USAGE)
    return "\n".join(f"import {name}" for name in modules)


def split_command(words: Sequence[str]) -> tuple[list[str], str]:
    r"""Give the Python with its options, and the code.

    Raises
    ------
    UsageError
        If the words are no such command.

    Examples
    --------
    >>> split_command(["python3", "-X", "dev", "-c", "import json"])
    (['python3', '-X', 'dev'], 'import json')
    """
    at = 1
    while at < len(words) and words[at] != "-c" and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_WORD else 1
    if at >= len(words) or words[at] != "-c":
        raise UsageError("the command must be 'python3 -c CODE', with what a program imports", USAGE)
    if len(words) != at + 2:
        raise UsageError("-c must have the code, and nothing after it", USAGE)
    return list(words[:at]), words[at + 1]


def identify_program(words: Sequence[str], code: str) -> StartProgram:
    """Ask a Python which it is.

    Raises
    ------
    UsageError
        If it is none, or too old.
    DriverError
        If it cannot be started.
    """
    answer, ending = answer_of([words[0], "-c", _IDENTIFY], timeout_s=_IDENTIFY_S, environment=dict(os.environ))
    try:
        version, implementation, method, lock = parse_json(answer.splitlines()[-1])
        is_old = numbers(version) < numbers(_OLDEST)
    except (InputError, ValueError, IndexError, TypeError):
        raise UsageError(f"{words[0]} is no usable Python: {in_full(ending)}", USAGE) from None
    if is_old:
        hint = f"start methods are tried from Python {_OLDEST} on"
        raise UsageError(f"{words[0]} is Python {version}, which is too old", hint)
    return StartProgram(tuple(words), code, version, implementation, method, lock)


def check_imports(program: StartProgram) -> None:
    """Import once what all trials import, so that its files are in memory.

    Raises
    ------
    CommandError
        If that fails.
    """
    argv = [*program.words, "-c", program.code]
    _, ending = answer_of(argv, timeout_s=_IMPORT_S, environment=dict(os.environ))
    if ending.exit_status != 0:
        shown = f"{program.words[0]} -c {program.code!r} shows it in full"
        raise CommandError(f"the import {in_full(ending)}", shown)


def in_full(ending: Ending) -> str:
    """How a process ended, with the line of its errors that says what was wrong."""
    lines = [line.strip() for line in ending.stderr.splitlines() if _ERROR.search(line.strip())]
    if not lines:
        return ending.in_full
    return f"{ending.describe()}: {lines[-1][:_LONGEST_WORDS]}"
