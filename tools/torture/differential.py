"""Differences: the same program alone and under a census: output, status, files made, and what it says of itself.

A program that differs from itself when it runs alone says nothing, and is left out with its name.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from tools.torture.programs import INPUT, Program, programs
from tools.torture.programs.languages import LANGUAGES
from tools.torture.programs.wrappers import WRAPPERS
from tools.torture.sandbox import HELPERS, NotPossibleError, Sandbox, descendants, reap
from tools.torture.trials import Trial

KIND = "differential"
# What differs by nature or by design (docs/census.md): the programs, their lines that are not compared, and the reason.
_VARIABLES = (
    "PYTHONPATH|NODE_OPTIONS|RUBYOPT|PERL5OPT|BASH_ENV|MAKEFILES|PHP_INI_SCAN_DIR|CLONOMETER_CALLS|CLONOMETER_LIBRARY"
)
EXCEPTIONS = (
    ("", rf"(declare -\S+ )?({_VARIABLES})\b", "the variables that set hooks"),
    ("", "(TORTURE_FOLDER|_)=", "what trials, and the shells that start them, set themselves"),
    (
        r"^(node|ruby|perl)/.*/other-root/",
        "",
        "they do not start where they do not find what they must load: --no-hooks",
    ),
    (r"^ruby/.*error-places", r"\[.*in `(spawn|system|popen)'", "an error's backtrace has the call twice"),
    (r"^perl/-t", r"Insecure \$ENV\{BASH_ENV\}", "taint mode does not like BASH_ENV to be set"),
    ("small-files.*environment", r"\w+=|$", "the variables that set hooks leave less room in a small file"),
    (r"^perl/", "(Can't locate|BEGIN failed)", "an error about a missing module lists one more folder"),
    (r"callers", r"callers of popen", "a block of IO.popen sees one more call"),
    (r"^node/.*loaded", r".*calls\.cjs", "what NODE_OPTIONS requires is in the list of modules"),
    (r"^ruby/.*(tracing|loaded)", r"(bind|calls\.rb|clonometer_calls\.so)$", "a trace sees that a method is bound"),
    (r"^ruby/.*methods", "", "system, spawn and others are methods of Ruby then, and say so where they are asked"),
    (r"^perl/.*modules", r"ClonometerCalls\.pm|(B:: )?CORE:: ", "the module that PERL5OPT loads, and its package"),
    (
        r"^python.*PYTHONPATH=(raising|exiting|missing)",
        r"  File .*sitecustomize|    (_step|__import|[~^]+$)",
        "who imports it",
    ),
    (r"^perl/.*Concise", "", "the numbers of statements begin after those of the hook"),
    (r"^make/.*separator", r"IFS is|\[ ?\]$|.*undefined variable 'IFS'", "IFS is defined, and a blank in recipes"),
    (r"^make/.*variables", r"IFS ", "IFS is defined"),
    (r"^make/.*loaded", ".*clonometer", "make has loaded the library"),
    (r"^bash/-v", r"if \{ enable -f ", "bash -v shows the line that loads the hook"),
    (r"^make/.*printed", r"\d+$", "the data base of make has the library and the variables"),
    ("/(traced/.*|.*[/+]watched.*)/ptrace", "", "a task has one tracer"),
    (r"^test/", r"=+ launches =+|  tasks |  +\d+ .*test_program\.py", "the plug-in says what it was asked for"),
)
BOUND_S = 15
_ALONE = "alone"
_STREAMS = ("stdin", "stdout", "stderr")
# Every so many programs have a census of their own: what that hands on itself is seen there.
_BY_ITSELF, _BY_PTRACE = 0.06, 0.2
# Addresses, process ids and times change with each start.
_PASSING = re.compile(
    r"0x[0-9a-f]{6,}|(?<=\(node:)\d+|(?<=CHILD_PROCESS )\d+|(?<=subprocess )\d+|(?<=line \d: )\s*\d+ "
    r"|(?<=line \d\d: )\s*\d+ |(?<=in )[\d.]+s\b|(?<=duration_ms) [\d.]+|(?<=duration_ms: )[\d.]+"
)
_LOST = re.compile(r"lost (\d+) of \d+")


def trials(order: random.Random) -> Iterator[Trial]:
    """Rounds of programs; each watched by tracepoints, or now and then by ptrace."""
    for turn, program in enumerate(programs(LANGUAGES, WRAPPERS, order)):
        how = "ptrace" if order.random() < _BY_PTRACE and not program.language.within else "tracepoints"
        # What variables a program has already when the census begins, that adds to: so it needs one of its own.
        apart = not program.language.within and (bool(program.way.environment) or order.random() < _BY_ITSELF)
        name = f"{program.name}/{how}{'/by itself' if apart else ''}/{turn}"
        yield Trial(KIND, name, partial(_compare, program, how, apart))


class _Launcher:
    """What starts programs, alone or as the command of a census that goes on from trial to trial."""

    def __init__(self, how: str, place: Path) -> None:
        place.mkdir(exist_ok=True)
        words = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py"))]
        if how != _ALONE:
            words = [*_census(how), *words]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "TMPDIR": str(place)}, cwd=place, start_new_session=True,
        )  # fmt: skip
        HELPERS.add(self._process.pid)
        atexit.register(self.close)

    def status(self, words: list[str], folder: Path) -> int:
        """Start a program and give the status with which it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"words": words, "folder": str(folder), "bound_s": BOUND_S}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.strip().lstrip("-").isdigit():
            raise RuntimeError(f"the launcher answers {answer!r}, and has ended with {self._process.poll()}")
        return int(answer)

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


def _census(how: str) -> list[str]:
    # Isolated, for some programs have variables that change Python itself.
    start = [sys.executable, "-I", "-m", "clonometer.cli.start"]
    return [*start, "census", "--no-advice", "--how", how, "--"]


@cache
def _launcher(how: str, place: Path) -> _Launcher:
    return _Launcher(how, place)


def _compare(program: Program, how: str, apart: bool, sandbox: Sandbox, draw: random.Random) -> list[str]:
    run = partial(_run_apart if apart else _run, program, sandbox)
    differences_of = partial(_differences, f"{program.name}/{how}")
    expected = run(_ALONE)
    if expected["status"] == "-1":
        raise NotPossibleError(f"it does not end by itself: {program.name}")
    seen = run(how)
    if not (differences := differences_of(expected, seen)):
        return []
    # Both once more, twice: what differs from itself says nothing, and what came once and not again may be the load.
    alone = [expected, run(_ALONE), run(_ALONE)]
    for once in alone[1:]:
        if changed := differences_of(expected, once):
            raise NotPossibleError(f"it differs from itself: {program.name}: {changed[0]}")
    # What is counted scatters with the load: it must be more often than each time alone.
    again = [all(differences_of(once, watched) for once in alone) for watched in (run(how), run(how))]
    if not any(again):
        raise NotPossibleError(f"it differed once of three times: {program.name}: {differences[0]}")
    return [*differences, f"it is: {_start(program, how)[-1]}", *(
        f"    {line}" for line in program.files.get(program.language.file, "").splitlines()
    )]  # fmt: skip


def _start(program: Program, how: str) -> list[str]:
    script = program.script.replace("HOW", _ALONE if how == _ALONE else "watched")
    return ["dash", "-c", f"exec <../stdin >../stdout 2>../stderr; {script}"]


def _run(program: Program, sandbox: Sandbox, how: str) -> dict[str, str]:
    """Run it by the launcher of that kind, and gather what can be seen of it."""
    _prepare(program, sandbox)
    kind = _ALONE if program.language.within else how
    status = _launcher(kind, sandbox.root.parent / "launchers").status(_start(program, how), sandbox.folder)
    return _gathered(sandbox, status)


def _run_apart(program: Program, sandbox: Sandbox, how: str) -> dict[str, str]:
    """Run it under a census of its own; alone below a process that only waits, as the census does."""
    _prepare(program, sandbox)
    environment = dict(program.way.environment)
    if how == _ALONE:
        words, before = _start(program, how), _wait_in_between
    else:
        words, before = [*_census(how), *_start(program, how)], None
    ended = sandbox.start(command=words, environment=environment, before=before).wait(BOUND_S)
    return _gathered(sandbox, -1 if ended.hung else ended.status)


def _wait_in_between() -> None:
    """Called in a new process: let another do the work, and end as that does."""
    pid = os.fork()
    if pid != 0:
        os.closerange(3, 1024)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(status if status >= 0 else 128 - status)


def _prepare(program: Program, sandbox: Sandbox) -> None:
    shutil.rmtree(sandbox.folder)
    sandbox.folder.mkdir()
    sandbox.folder.chmod(0o1777)
    for name in _STREAMS:
        (sandbox.root / name).write_bytes(INPUT if name == "stdin" else b"")
        (sandbox.root / name).chmod(0o666)
    if program.language.build:
        shutil.copytree(_built(program.language.name, sandbox.root.parent), sandbox.folder, dirs_exist_ok=True)
    for name, text in program.files.items():
        path = sandbox.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # Make compares times, and what is made anew within its folder is as old as the last time.
    for path in sandbox.folder.rglob("*"):
        os.utime(path, (0, 10**9))


@cache
def _built(name: str, place: Path) -> Path:
    [language] = [language for language in LANGUAGES if language.name == name]
    folder = place / f"built-{language.name}"
    folder.mkdir()
    (folder / language.file).write_text(language.source)
    words = ["dash", "-c", language.build]
    environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": ""}
    built = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    if built.returncode != 0:
        raise NotPossibleError(f"{language.name} cannot be built: {built.stderr[-300:]}")
    return folder


def _gathered(sandbox: Sandbox, status: int) -> dict[str, str]:
    # What a program has left is its own doing, alone too.
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    reap()
    seen = {"status": str(status)}
    for name in _STREAMS[1:]:
        seen[name] = (sandbox.root / name).read_bytes().decode("utf-8", "backslashreplace")
    for path in sorted(sandbox.folder.rglob("*")):
        seen[f"file {path.relative_to(sandbox.folder)}"] = _described(path)
    return seen


def _described(path: Path) -> str:
    status = path.lstat()
    if stat.S_ISREG(status.st_mode):
        data = path.read_bytes()
        text = data.decode("utf-8", "backslashreplace") if len(data) < 4096 else hashlib.sha256(data).hexdigest()
        return f"{status.st_mode:o} {status.st_uid}\n{text}"
    return f"{status.st_mode:o} {path.readlink() if path.is_symlink() else ''}"


def _differences(name_of_program: str, expected: dict[str, str], seen: dict[str, str]) -> list[str]:
    exceptions = [line for program, line, _ in EXCEPTIONS if re.search(program, name_of_program)]
    differences = []
    for name in sorted(expected.keys() | seen.keys()):
        if name.endswith(".pyc"):
            continue  # They have the time at which they were compiled.
        alone, watched = (_lines(each.get(name, "nothing"), exceptions) for each in (expected, seen))
        if alone != watched and not _is_as_often(alone, watched):
            at = next(
                (n for n, (a, b) in enumerate(zip(alone, watched, strict=False)) if a != b),
                min(len(alone), len(watched)),
            )
            shown = (repr("\n".join(lines[at : at + 4]))[:400] for lines in (alone, watched))
            differences.append("{}, line {}: alone {}, watched {}".format(name, at + 1, *shown))
    return differences


def _lines(text: str, exceptions: Sequence[str]) -> list[str]:
    text = _PASSING.sub("", text)
    return [line for line in text.splitlines() if not any(re.match(pattern, line) for pattern in exceptions)]


def _is_as_often(alone: list[str], watched: list[str]) -> bool:
    """Whether what is lost is lost as often as alone, and all else is the same: that is counted, and scatters."""
    if [_LOST.sub("", line) for line in alone] != [_LOST.sub("", line) for line in watched]:
        return False
    lost, more = (sum(map(int, _LOST.findall("\n".join(lines)))) for lines in (alone, watched))
    # Three standard deviations of the difference of two such counts.
    return more - lost <= 3 * (2 * lost + 1) ** 0.5
