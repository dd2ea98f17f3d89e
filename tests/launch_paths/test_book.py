"""The book of launch paths is whole, and what was seen of it agrees with it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import jsonschema
import pytest
from publications.launch_paths import page
from tests.launch_paths.samples import checked_book

from clonometer.cli.ending import run_to_the_end
from clonometer.errors import InputError, UsageError
from clonometer.launch_paths.judging import difference, judge_line
from clonometer.launch_paths.reading import load_book, parse_runtime, parse_seen
from clonometer.launch_paths.types import SeenBook, SeenLine, SeenTask, SeenVersion
from clonometer.launch_paths.versions import covers, numbers
from clonometer.records import to_json
from clonometer.verdicts import Status
from clonometer.views.documents.paths import checked_document
from clonometer.views.markdown import render_markdown
from clonometer.views.terminal.document import render_document

BOOK = load_book()
LINES = [(runtime, path) for runtime in BOOK.runtimes for path in runtime.paths]
MINIMAL = r"""
name = "some"
title = "Some"
source = "example.org"
packages = ["some"]
programs = ["some"]
identify = ["{program}", "--version"]
version = '(?P<version>\d+)'
suffix = ".s"
run = ["{program}", "{snippet}"]
counts_threads = true
[[path]]
name = "line"
api = "call"
sees = ["fork > true"]
why = "file.c: function() forks"
snippet = "call"
"""


def test_runtimes_that_were_asked_for_have_their_lines() -> None:
    wanted = {"python", "node", "java", "go", "rust", "ruby", "perl", "php", "dotnet", "bash", "dash", "make"}
    assert wanted | {"glibc", "musl", "glib", "qt5", "qt6"} == {runtime.name for runtime in BOOK.runtimes}
    assert len(LINES) > 240


def test_each_line_that_copies_memory_says_what_to_write_instead() -> None:
    assert [f"{runtime.name} {path.name}" for runtime, path in LINES if path.copies and not path.instead] == []


def test_advice_is_carried_out_where_a_check_can_do_so() -> None:
    """Each of these is run by a check, and must not copy memory."""
    better = [(runtime.name, path.name) for runtime, path in LINES if path.better]
    assert len(better) >= 30
    assert len({runtime for runtime, _ in better}) >= 7


def test_no_two_lines_claim_the_same_option_of_one_version() -> None:
    for runtime in BOOK.runtimes:
        for path, other in combinations(runtime.paths, 2):
            if (path.api, path.option, path.needs, path.when) == (other.api, other.option, other.needs, other.when):
                earlier, later = sorted((path, other), key=lambda each: numbers(each.since or ""))
                assert () < numbers(earlier.until or "") < numbers(later.since or ""), (runtime.name, path.name)


def test_every_snippet_has_its_place_in_the_program_around_it() -> None:
    for runtime, path in LINES:
        assert runtime.frame.count("{snippet}") == 1
        assert path.snippet.strip() in runtime.program_text(path)
        if path.options:
            assert "{options}" in runtime.run, (runtime.name, path.name)


def test_what_was_seen_agrees_with_the_book() -> None:
    """After a change of the book: clonometer paths --check RUNTIME --record src/clonometer/launch_paths/seen.json."""
    verdicts = {
        (each.runtime, each.version, line.name): judge_line(runtime, path, line, each)
        for each in BOOK.seen
        for line in each.lines
        for runtime in [BOOK.runtime(each.runtime)]
        for path in runtime.paths
        if path.name == line.name
    }
    assert len(verdicts) > 300
    assert {place: verdict for place, verdict in verdicts.items() if verdict is not Status.HOLDS} == {}


def test_a_line_that_is_wrong_is_judged_so() -> None:
    [seen] = [each for each in BOOK.seen if each.runtime == "perl"]
    perl = BOOK.runtime("perl")
    line = next(line for line in seen.lines if line.name == "system")
    path = next(path for path in perl.paths if path.name == "system")
    broken = replace(path, sees=("vfork > true",))
    assert judge_line(perl, broken, line, seen) is Status.FAILS
    assert judge_line(perl, replace(path, snippet="another"), line, seen) is None
    assert judge_line(perl, path, replace(line, saw=("fork > sh",)), seen) is Status.FAILS
    assert judge_line(perl, path, replace(line, saw=("fork > true", "fork > true")), seen) is Status.FAILS


def test_threads_count_where_a_runtime_has_none_of_its_own() -> None:
    python, node = BOOK.runtime("python"), BOOK.runtime("node")
    thread = next(path for path in python.paths if path.name == "threading")
    assert difference(python, thread, [], 1) is None
    assert difference(python, thread, [], 0) == "the book has 1 thread, the kernel saw 0"
    worker = next(path for path in node.paths if path.name == "worker")
    assert difference(node, worker, [], 7) is None


def test_a_stack_whose_names_are_all_known_must_have_a_function_of_the_line() -> None:
    glibc = BOOK.runtime("glibc")
    path = next(path for path in glibc.paths if path.name == "popen")
    saw = [SeenTask("posix_spawn", ("sh",))]
    right, unknown, wrong = ["popen@@GLIBC_2.2.5", "main"], ["posix_spawn", None], ["system", "main"]
    assert difference(glibc, path, saw, 0) is None
    assert difference(glibc, path, saw, 0, stacks=[right]) is None
    assert difference(glibc, path, saw, 0, stacks=[unknown]) is None
    assert difference(glibc, path, saw, 0, stacks=[wrong]) == "the book has popen, the stack has system, main"
    assert difference(glibc, path, saw, 0, stacks=[wrong, right]) is None


def test_what_children_did_must_be_what_the_line_says() -> None:
    python = BOOK.runtime("python")
    path = next(path for path in python.paths if path.name == "pty.fork")
    saw = [SeenTask("fork", ("true",))]
    assert difference(python, path, saw, 0, calls=None) is None
    assert difference(python, path, saw, 0, calls=["setsid", "dup2", "chdir"]) is None
    words = difference(python, path, saw, 0, calls=["dup2", "close_fds"])
    assert words == "the book has a child that does setsid and does no close_fds, which was seen otherwise"


def test_a_task_that_is_only_tried_may_be_missing() -> None:
    go = BOOK.runtime("go")
    path = next(path for path in go.paths if path.name == "command")
    launched = SeenTask("clone(VM|VFORK)", ("true",))
    assert difference(go, path, [launched], 3) is None
    assert difference(go, path, [SeenTask("clone(VM|VFORK)"), launched], 3) is None
    assert difference(go, path, [SeenTask("fork"), launched], 3) is not None
    assert difference(go, path, [SeenTask("clone(VM|VFORK)")], 3) is not None


def test_where_the_kernel_has_no_vfork_clone_asks_for_the_same() -> None:
    dash = BOOK.runtime("dash")
    path = next(path for path in dash.paths if path.name == "command")
    saw = [SeenTask("clone(VM|VFORK)", ("true",))]
    assert difference(dash, path, saw, 0, architecture="aarch64") is None
    assert difference(dash, path, saw, 0, architecture="x86_64") is not None


def test_a_program_whose_name_was_not_seen_may_be_any() -> None:
    java = BOOK.runtime("java")
    path = next(path for path in java.paths if path.name == "start")
    assert difference(java, path, [SeenTask("posix_spawn", ("...", "true"))], 20) is None
    assert difference(java, path, [SeenTask("posix_spawn", ("true",))], 20) is not None


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("[[path]]", "[[path]", "it is not TOML"),
        ('title = "Some"\n', "", "title is missing"),
        ('title = "Some"', 'title = " "', "title is empty"),
        ('api = "call"', 'api = "call"\nintead = "x"', "unknown key 'intead'; did you mean 'instead'?"),
        ('suffix = ".s"', 'sufix = ".s"', "unknown key 'sufix'"),
        ('"fork > true"', '"frok > true"', "frok"),
        ('"file.c: function() forks"', '"it forks"', "the file that decides"),
        ('api = "call"', 'api = "call"\ninstead = "x"', "only one of instead and lose"),
        ('api = "call"', 'api = "call"\nsetting = "A=1"', "only one of setting and mended"),
        ('api = "call"', 'api = "call"\nbetter = "x"', "something better, but not in words"),
        ('api = "call"', 'api = "call"\nfrom = "new"', "for a version"),
        ('api = "call"', 'api = "call"\nneeds = ["luck"]', "does not know"),
        ('api = "call"', 'api = "call"\nchild = ["dance"]', "does not know"),
        ('api = "call"', f'api = "{"x" * 401}"', "more than 400 characters"),
        ('name = "line"', 'name = "a line"', "is not a name"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_name(before: str, after: str, words: str) -> None:
    assert parse_runtime(MINIMAL, "some.toml").paths[0].versions == ""
    with pytest.raises(InputError) as refused:
        parse_runtime(MINIMAL.replace(before, after, 1), "some.toml")
    assert refused.value.message.startswith("some.toml: ")
    assert words in refused.value.message


def test_names_are_unique_within_a_runtime() -> None:
    line = MINIMAL[MINIMAL.index("[[path]]") :]
    with pytest.raises(InputError, match="two lines named line"):
        parse_runtime(MINIMAL + line, "some.toml")


def test_what_was_seen_is_refused_where_it_is_damaged() -> None:
    with pytest.raises(InputError, match="it is not JSON"):
        parse_seen("{")
    with pytest.raises(InputError, match=r"versions\[0\]"):
        parse_seen('{"schema": 1, "versions": [{}]}')


def test_a_later_check_replaces_that_of_the_same_version() -> None:
    line = SeenLine("line", "0", ("fork",), 0)

    def seen(version: str, *lines: SeenLine) -> SeenVersion:
        return SeenVersion("some", version, "x86_64", "6.1", "tracepoints", lines)

    book = SeenBook((seen("3.9"),)).having([seen("3.10", line)]).having([seen("3.9", line)])
    assert [(each.version, len(each.lines)) for each in book.versions] == [("3.9", 1), ("3.10", 1)]


def test_versions_are_compared_by_their_numbers() -> None:
    inside = [("3.10", "3.12", "3.12.7"), (None, "3.9", "3.9.18"), ("2.24", None, "2.36"), (None, None, "1")]
    outside = [("3.10", None, "3.9.18"), (None, "5.1", "5.2.15"), (None, None, "trunk")]
    assert [each for each in inside if not covers(*each)] == []
    assert [each for each in outside if covers(*each)] == []


def test_an_unknown_runtime_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'python'"):
        BOOK.only(["pyhton"])
    assert BOOK.only(["php", "php"]).runtimes == (BOOK.runtime("php"),)


def test_a_changed_snippet_has_another_digest() -> None:
    runtime, path = LINES[0]
    assert runtime.digest(path) == runtime.digest(replace(path, why="else.c: other words"))
    assert runtime.digest(path) != runtime.digest(replace(path, snippet=path.snippet + "#"))
    assert runtime.digest(path) != replace(runtime, frame="x{snippet}").digest(path)


DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schemas/launch-paths.schema.json").read_text(encoding="utf-8"))

Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *words: str, status: int = 0) -> str:
    assert run_to_the_end(["paths", *words]) == status
    return capsys.readouterr().out


def test_the_page_is_what_make_docs_writes() -> None:
    assert (DOCS / "launch-paths.md").read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_every_runtime_fits_the_terminal(columns: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in ([], *([runtime.name] for runtime in load_book().runtimes)):
        lines = run(capsys, *words).splitlines()
        # A setting is there to be copied, and a name of many letters has no place to break.
        longest = max(len(word) for line in lines for word in line.split())
        assert max(map(len, lines)) <= max(columns, longest + 6)


def test_what_was_checked_stands_where_there_is_room(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = run(capsys, "python")
    assert "3.10.13 to 3.12.1" in text
    assert "Instead: start_new_session=True" in text
    assert "checked with" not in render_at(80, capsys, monkeypatch, "python")


def render_at(columns: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    return run(capsys, *words)


def test_json_is_the_book_with_what_was_seen(capsys: Captured) -> None:
    document = json.loads(run(capsys, "perl", "--json"))
    jsonschema.validate(document, SCHEMA)
    assert [runtime["name"] for runtime in document["runtimes"]] == ["perl"]
    assert {seen["runtime"] for seen in document["seen"]} == {"perl"}
    assert document["runtimes"][0]["path"][0]["sees"] == ["fork > true"]


def test_an_unknown_runtime_is_refused(capsys: Captured) -> None:
    assert run_to_the_end(["paths", "perk"]) == 2
    assert "did you mean 'perl'" in capsys.readouterr().err


def test_recording_needs_a_check(capsys: Captured, tmp_path: Path) -> None:
    assert run_to_the_end(["paths", "--record", str(tmp_path / "seen.json")]) == 2
    assert "--record needs --check" in capsys.readouterr().err


def test_a_check_says_what_is_wrong_first_and_what_brings_a_runtime() -> None:
    document = checked_document(checked_book())
    assert document.lead == "1 line right, 1 wrong, 1 could not be run, 2 not checked here."
    text = render_document(checked_document, checked_book(), width=80, colour=False)
    assert "\x1b" not in text
    for part in (
        "system: the book has fork, the kernel saw vfork",
        "open3: ended with status 2",
        "perl 5.36.0: threads",
    ):
        assert part in text
    assert "Debian's php-cli" in render_markdown(document)
    jsonschema.validate(to_json(checked_book()), SCHEMA)
