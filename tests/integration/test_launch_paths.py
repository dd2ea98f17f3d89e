"""The book of launch paths against this machine's kernel: what every machine of ours has, and what else is here."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from clonometer.app.paths import check_paths, recorded
from clonometer.errors import UsageError
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import PathBook
from clonometer.records import to_json
from clonometer.runner.launches import locate
from clonometer.verdicts import Status

pytestmark = pytest.mark.real
BOOK = load_book()
#: Those whose lines take longer than a second each to build or to run, and how many of them are tried.
SLOW = {"go": 3, "java": 2, "rust": 6, "glib": 6, "qt5": 2, "qt6": 2, "dotnet": 2}


def lines_of(name: str, most: int | None = None) -> PathBook:
    runtime = BOOK.runtime(name)
    return PathBook((replace(runtime, paths=runtime.paths[:most]),))


@pytest.mark.parametrize("name", [runtime.name for runtime in BOOK.runtimes])
def test_the_book_is_right_here(name: str) -> None:
    runtime = BOOK.runtime(name)
    if not locate(runtime):
        pytest.skip(f"{runtime.title} is not here: {' and '.join(runtime.packages)}")
    checked = check_paths(book=lines_of(name, SLOW.get(name)))
    wrong = [line for version in checked.runtimes for line in version.lines if line.verdict is Status.FAILS]
    failed = [line for version in checked.runtimes for line in version.lines if line.verdict is Status.UNKNOWN]
    assert (wrong, failed) == ([], [])
    assert checked.counts[Status.HOLDS] > 0


def test_a_line_that_is_wrong_is_seen_to_be() -> None:
    bash = BOOK.runtime("bash")
    command = next(path for path in bash.paths if path.name == "command")
    for broken in (
        replace(command, sees=("vfork > true",)),
        replace(command, sees=("fork > sh",)),
        replace(command, sees=("fork > true", "fork > true")),
        replace(command, sees=()),
        replace(command, threads=1),
    ):
        checked = check_paths(book=PathBook((replace(bash, paths=(broken,)),)))
        [line] = checked.runtimes[0].lines
        assert line.verdict is Status.FAILS, broken
        assert line.saw == ("fork > true",)
        assert line.reason is not None


def test_a_function_that_is_not_on_the_stack_is_seen_to_be_wrong() -> None:
    perl = BOOK.runtime("perl")
    system = next(path for path in perl.paths if path.name == "system")
    broken = replace(system, frames=("Perl_pp_backtick",))
    [line] = check_paths(book=PathBook((replace(perl, paths=(broken,)),))).runtimes[0].lines
    if line.verdict is Status.HOLDS:
        pytest.skip("stacks have no names here")
    assert line.verdict is Status.FAILS
    assert "the stack has" in (line.reason or "")


def test_what_a_child_does_not_do_is_seen_to_be_wrong() -> None:
    perl = BOOK.runtime("perl")
    broken = replace(next(path for path in perl.paths if path.name == "system"), child=("setsid",))
    [line] = check_paths(book=PathBook((replace(perl, paths=(broken,)),))).runtimes[0].lines
    if line.calls is None:
        pytest.skip("what children do is not seen here")
    assert line.verdict is Status.FAILS
    assert "does setsid" in (line.reason or "")


def test_advice_that_does_not_help_is_seen_to_be_wrong() -> None:
    bash = BOOK.runtime("bash")
    command = next(path for path in bash.paths if path.name == "command")
    for better, words in (("/bin/true\n:", "copies memory too: fork > true"), ("exit 3", "ended with status 3")):
        broken = replace(command, better=better)
        [line] = check_paths(book=PathBook((replace(bash, paths=(broken,)),))).runtimes[0].lines
        assert line.verdict is Status.FAILS
        assert words in (line.reason or "")
    [line] = (
        check_paths(book=PathBook((replace(bash, paths=(replace(command, better="exec /bin/true"),)),)))
        .runtimes[0]
        .lines
    )
    assert line.verdict is Status.HOLDS


def test_a_snippet_that_fails_is_no_verdict_on_the_book() -> None:
    bash = BOOK.runtime("bash")
    failing = replace(bash.paths[0], snippet="/bin/true\necho 'no luck today' >&2\nexit 3")
    [line] = check_paths(book=PathBook((replace(bash, paths=(failing,)),))).runtimes[0].lines
    assert line.verdict is Status.UNKNOWN
    assert line.reason == "ended with status 3: no luck today"


def test_a_snippet_that_cannot_be_built_says_why() -> None:
    glibc = BOOK.runtime("glibc")
    if not locate(glibc):
        pytest.skip("no gcc here")
    failing = replace(glibc.paths[1], snippet="this is no C;")
    [line] = check_paths(book=PathBook((replace(glibc, paths=(failing,)),))).runtimes[0].lines
    assert line.verdict is Status.UNKNOWN
    assert line.reason is not None
    assert line.reason.startswith("could not be built: ")


def test_daemons_are_seen_whole() -> None:
    perl = BOOK.runtime("perl")
    twice = "if (fork() == 0) { if (fork() == 0) { select(undef, undef, undef, 0.3); fork() or exit 0; } exit 0; }"
    path = replace(perl.paths[0], snippet=twice, sees=("fork", "fork", "fork"), frames=())
    [line] = check_paths(book=PathBook((replace(perl, paths=(path,)),))).runtimes[0].lines
    assert line.verdict is Status.HOLDS, line


def test_a_runtime_that_is_nowhere_names_the_package_that_brings_it() -> None:
    perl = replace(BOOK.runtime("perl"), programs=("clonometer-has-no-such-program",))
    checked = check_paths(book=PathBook((perl,)))
    [version] = checked.runtimes
    assert (version.version, version.reason) == (None, "Debian's perl")
    assert {line.verdict for line in version.lines} == {Status.NOT_MEASURABLE}
    assert checked.how is None


def test_a_program_is_checked_by_its_path_and_another_is_refused() -> None:
    bash = shutil.which("bash")
    assert bash is not None
    [version] = check_paths([f"bash={bash}"], book=lines_of("bash", 1)).runtimes
    assert version.program == bash
    with pytest.raises(UsageError, match="is not Bash"):
        check_paths(["bash=/bin/true"], book=lines_of("bash", 1))


def test_what_was_seen_is_put_into_a_file(tmp_path: Path) -> None:
    file = tmp_path / "seen.json"
    checked = check_paths(["bash"], book=lines_of("bash", 2))
    file.write_text(json.dumps(to_json(recorded(checked, file))), encoding="utf-8")
    again = recorded(checked, file)
    [seen] = again.versions
    assert (seen.runtime, [line.name for line in seen.lines]) == ("bash", ["command", "last-command"])
    assert seen.lines[0].saw == ("fork > true",)
