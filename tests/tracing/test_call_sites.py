"""Call sites, gathered from lines of a census: which call is named, what is one place, and what is missing."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.tracing.test_census import ended, taken, task

from clonometer.tracing.census import call_sites
from clonometer.tracing.census.call_sites import CallSite, StackFrame
from clonometer.tracing.census.to_json import census_to_json
from clonometer.tracing.census.unnamed import unnamed_lines
from clonometer.views.documents.census import census_document
from clonometer.views.terminal.document import render_document

render_census = partial(render_document, census_document)
STACKS = {"by": "libdw", "without": "", "copied_bytes": 8192}


def module(number: int, path: str | None, **changes: Any) -> dict[str, Any]:
    return {"line": "module", "module": number, "path": path, "build_id": None, "code_of": None} | changes


def frame(number: int, function: str | None, offset: int = 16, line: int = 0) -> dict[str, Any]:
    place = {"file": "/src/a.c" if line else None, "source_line": line}
    return {"module": number, "offset": offset, "function": function, "plus": 4, **place}


def site(number: int, *frames: dict[str, Any], ends: str = "complete") -> dict[str, Any]:
    return {"line": "site", "site": number, "ends": ends, "frames": frames}


MODULES = [module(0, "/lib/x86_64-linux-gnu/libc.so.6"), module(1, "/bin/planted", build_id="ab" * 20)]
LIBRARY = [frame(0, "__clone3"), frame(0, "__spawnix", 32), frame(0, "posix_spawn@@GLIBC_2.15", 48)]


def test_the_site_is_the_call_outside_of_the_c_library_and_the_api_what_it_called() -> None:
    stack = site(0, *LIBRARY, frame(1, "start_it", 80, line=12), frame(1, "main", 96, line=40))
    census = taken(task(site=0), task(site=0, making_ns=120_000), stack, *MODULES, ended(stacks=STACKS))
    (only,) = census.sites.by_cost()
    assert only.where == StackFrame("/bin/planted", "ab" * 20, 80, "start_it", 4, "/src/a.c", 12)
    assert (only.api, only.created, only.making_median_ns) == ("posix_spawn", 2, 100_000)
    answer = census_to_json(census, ["make"], None)
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/census.schema.json").read_text())
    jsonschema.validate(answer, schema)
    assert answer["sites"][0]["where"]["line"] == 12
    assert answer["sites"][0]["frames_end"] is None
    text = render_census(census, "planted", width=100)
    assert "posix_spawn  /src/a.c:12  start_it" in text


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("fork", "/lib/libc.so.6", True),
        ("anything", "/lib/libc-2.31.so", True),
        ("anything", "/lib/ld-musl-x86_64.so.1", True),
        ("__libc_fork", "/bin/static", True),
        ("__GI___clone_internal", "/bin/static", True),
        ("pthread_create@GLIBC_2.2.5", "/bin/static", True),
        ("fork_worker", "/bin/planted", False),
        (None, "/usr/lib/libcurl.so.4", False),
        (None, None, False),
    ],
)
def test_what_belongs_to_the_c_library(name: str | None, path: str | None, expected: bool) -> None:
    assert StackFrame(path, None, 0, name).is_maker is expected


def test_ways_through_the_library_are_one_site_and_callers_are_several() -> None:
    other = [frame(0, "_Fork", 64), *LIBRARY[1:]]
    lines = [
        site(0, *LIBRARY, frame(1, "f", 80, line=12), frame(1, "main", 96)),
        site(1, *other, frame(1, "f", 80, line=12), frame(1, "main", 96)),
        site(2, *LIBRARY, frame(1, "f", 80, line=12), frame(1, "main", 128)),
    ]
    census = taken(*(task(site=number) for number in (0, 1, 2)), *lines, *MODULES, ended(stacks=STACKS))
    assert sorted(each.created for each in census.sites.by_cost()) == [1, 2]
    rows = [line for line in render_census(census, "x", width=100).splitlines() if "a.c:12" in line]
    assert len(rows) == 1, "on the terminal it is one line of the source"
    assert " 3 " in rows[0]


def test_what_is_not_known_is_said() -> None:
    stacks = {"by": "frame pointers", "without": "libdw.so.1 is not installed", "lost": 7, "narrow": 1}
    stack = site(0, frame(0, None), ends="no table")
    census = taken(task(site=0), task(site=None), stack, *MODULES, ended(stacks=stacks))
    text = " ".join(render_census(census, "x").split())
    assert "by frame pointers alone, which most programs lack: libdw.so.1 is not installed." in text
    assert "7 for want of room, 1 of 32-bit programs" in text
    assert "1 call site end at code without unwind tables" in text
    answer = census_to_json(census, ["x"], None)
    assert answer["stacks"]["missing"] == {"lost": 7, "narrow": 1}
    assert [each["where"] for each in answer["sites"]] == [None, None]
    assert answer["sites"][0]["frames_end"].startswith("code without unwind tables")


def test_code_in_no_file_has_its_address() -> None:
    lines = [site(0, frame(2, None, 0x7F00)), module(2, None, code_of=41)]
    census = taken(task(site=0), *lines, ended(stacks=STACKS))
    assert census.sites.by_cost()[0].where.place == "[code in no file]+0x7f00"  # type: ignore[union-attr]


def test_ever_new_places_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_sites, "_MOST_SITES", 3)
    census = taken(*(task(site=number) for number in range(9)), ended(stacks=STACKS))
    sites = census.sites.by_cost()
    assert sum(each.created for each in sites) == 9
    assert len(census.sites._sites) <= 4


def test_what_children_did_is_added_up_and_options_are_shown() -> None:
    did = {"setsid": 1, "close": 200, "dup2": 3}
    stack = site(0, *LIBRARY, frame(1, "f", 80, line=12))
    census = taken(
        task(site=0, did=did, did_cut=False, helper="/bin/sh"),
        task(site=0, did={"setsid": 1, "close": 40, "dup2": 1}, did_cut=True, helper=None),
        stack,
        *MODULES,
        ended(stacks=STACKS),
    )
    answer = census_to_json(census, ["x"], None)
    (only,) = answer["sites"]
    assert only["did"]["close"] == {"tasks": 2, "times": 240}
    assert (only["did_known"], only["did_cut"], only["helpers"]) == (2, 1, {"/bin/sh": 1})
    row = next(line for line in render_census(census, "x", width=140).splitlines() if "a.c:12" in line)
    assert " setsid " in row
    assert "close" not in row


def test_what_a_runtime_said_is_the_place() -> None:
    frames = ["Lsubprocess\x1frun\x1f/lib/subprocess.py\x1f548", "P__main__\x1fgo\x1f/srv/a.py\x1f9"]
    hook = "\t".join(["python", "{}", "2", "process", "os.fork", *frames])
    lines = [
        {"line": "call", "text": hook.format(1000)},
        task(site=0, creator=2, start_ns=500, previous_ns=None, creator_program="/usr/bin/python3"),
        task(site=0, creator=2, start_ns=900, previous_ns=500, creator_program="/usr/bin/python3"),
        site(0, *LIBRARY, frame(1, "do_fork_exec", 80)),
    ]
    spoken = taken(*lines, *MODULES, ended(stacks=STACKS), begin_ns=600)
    known, unknown = sorted(spoken.sites.by_cost(), key=lambda each: each.language is None)
    assert known.where is not None
    assert (known.where.place, known.where.name, known.api) == ("/srv/a.py:9", "go", "subprocess.run")
    assert unknown.where is not None
    assert unknown.where.name == "do_fork_exec", "the line of one task is lent to no other"
    assert (known.created, unknown.created) == (1, 1)
    answer = census_to_json(spoken, ["x"], None)
    jsonschema.validate(answer, json.loads((Path(__file__).parents[2] / "docs/schemas/census.schema.json").read_text()))
    assert "Lines are not known of python3." in " ".join(render_census(spoken, "x").split())


def test_lines_of_hooks_that_had_no_room_are_counted_in_the_answer() -> None:
    broken = [{"line": "call", "text": "no line of a hook"}] * 3
    lost = "The lines of 3 calls that hooks noted had no room or could not be read, and are not known."
    for lines, is_shown in (broken, True), ([], False):
        census = taken(*lines, task(site=0), site(0, *LIBRARY), *MODULES, ended(stacks=STACKS))
        assert (lost in " ".join(render_census(census, "x").split())) == is_shown


def test_a_function_that_python_names_for_perf_is_the_place() -> None:
    native, script = frame(1, "os_fork", 80, line=7719), frame(2, "py::Job.run:/srv/a@b.py", 24)
    python = task(site=0, creator_program="/usr/bin/python3.12")
    census = taken(python, site(0, native, script), *MODULES, module(2, None), ended(stacks=STACKS))
    (only,) = census.sites.by_cost()
    assert only.where is not None
    assert (only.where.function, only.where.place) == ("Job.run", "/srv/a@b.py")
    shown = render_census(census, "x", width=140)
    assert "/srv/a@b.py" in shown
    assert "Lines are not known" not in shown


@pytest.mark.parametrize(
    ("program", "hooked", "hint"),
    [
        ("java", True, "JAVA_TOOL_OPTIONS=-agentpath:/lib/calls.so names those of Java"),
        ("java", False, "Compiler.perfmap"),
        ("python3.12", False, "-X perf"),
        ("python3", True, "python3 did not load the hook"),
        ("php8.2", True, "php8.2 did not load the hook"),
        ("dash", True, "bash has"),
        ("dash", False, "bash has"),
        ("perl", False, "without --no-hooks"),
    ],
)
def test_what_would_name_the_lines_is_said(program: str, hooked: bool, hint: str) -> None:
    sites = [CallSite(f"/usr/bin/{program}", "fork"), CallSite("/usr/bin/make", "thread"), CallSite("/bin/ls", "fork")]
    sentences = unnamed_lines(sites, hooked=hooked, library="/lib/calls.so")
    assert sentences[0] == f"Lines are not known of {program}."
    assert hint in " ".join(sentences[1:])
    assert all(len(sentence.split()) <= 25 for sentence in sentences)


def test_a_script_with_a_name_of_its_own_is_one_of_its_runtime() -> None:
    served = [CallSite("v/bin/gunicorn", "fork")]
    assert unnamed_lines(served, hooked=False, library=None) == []
    sentences = unnamed_lines(served, hooked=False, library=None, runtimes={"v/bin/gunicorn": "python"})
    assert sentences[0] == "Lines are not known of gunicorn."
    assert "-X perf" in sentences[-1]


def test_a_shell_without_a_hook_is_not_promised_one() -> None:
    sentences = unnamed_lines([CallSite("/bin/sh", "fork")], hooked=False, library=None)
    assert "without --no-hooks" not in " ".join(sentences)


def test_launches_of_one_line_with_other_options_are_other_sites() -> None:
    stack = site(0, *LIBRARY, frame(1, "f", 80, line=12))
    options: list[dict[str, int] | None] = [{"setsid": 1}, {"chdir": 1}, {"setsid": 1, "dup2": 1}, None, {"setsid": 1}]
    lines = [task(site=0, did=did, did_cut=False, helper=None) for did in options]
    census = taken(*lines, stack, *MODULES, ended(stacks=STACKS))
    counts = {each.calls: each.created for each in census.sites.by_cost()}
    assert counts == {
        frozenset({"setsid"}): 2,
        frozenset({"chdir"}): 1,
        frozenset({"setsid", "dup2"}): 1,
        None: 1,
    }


def test_a_line_that_others_call_in_turn_is_one_place() -> None:
    library, line = "Lsubprocess\x1frun\x1f/lib/subprocess.py\x1f548", "P__main__\x1fgo\x1f/srv/a.py\x1f9"
    callers = [f"P__main__\x1fmain\x1f/srv/a.py\x1f{number}" for number in (20, 30)]
    lines = [
        {"line": "call", "text": "\t".join(["python", str(at), "2", "process", "os.fork", library, line, caller])}
        for at, caller in zip((1000, 1600), callers, strict=True)
    ]
    made = {"site": 0, "creator": 2, "creator_program": "/usr/bin/python3"}
    tasks = [task(start_ns=500, previous_ns=None, **made), task(start_ns=1100, previous_ns=500, **made)]
    stack = site(0, *LIBRARY, frame(1, "do_fork_exec", 80))
    census = taken(*lines, *tasks, stack, *MODULES, ended(stacks=STACKS), begin_ns=600)
    sites = census.sites.by_cost()
    assert [each.created for each in sites] == [1, 1]
    (place,) = call_sites.one_place(sites)
    assert (place.created, place.where.place if place.where else None) == (2, "/srv/a.py:9")


def test_a_recipe_that_two_targets_share_is_credited_to_neither() -> None:
    targets = [f"P\x1f{name}\x1f/src/Makefile\x1f7" for name in ("one.o", "two.o")]
    lines = [
        {"line": "call", "text": "\t".join(["make", str(at), "2", "process", "recipe", target])}
        for at, target in zip((1000, 1600), targets, strict=True)
    ]
    made = {"site": 0, "creator": 2, "creator_program": "/usr/bin/make"}
    tasks = [task(start_ns=500, previous_ns=None, **made), task(start_ns=1100, previous_ns=500, **made)]
    stack = site(0, *LIBRARY, frame(1, "child_execute_job", 80))
    sites = taken(*lines, *tasks, stack, *MODULES, ended(stacks=STACKS), begin_ns=600).sites.by_cost()
    assert [each.where.function for each in sites if each.where] == ["one.o", "two.o"]
    (place,) = call_sites.one_place(sites)
    assert place.where is not None
    assert (place.created, place.where.place, place.where.function) == (2, "/src/Makefile:7", "")
