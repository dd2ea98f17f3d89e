"""Call sites with the option that chose their path, and what another launch would save."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.tracing.test_call_sites import LIBRARY, MODULES, STACKS, frame, module, site
from tests.tracing.test_census import FORK, ended, taken, task

from clonometer.launch_paths.reading import load_book
from clonometer.tracing.census.durations import Durations
from clonometer.tracing.census.installed import is_packaged
from clonometer.tracing.census.language import LanguageCall, LanguageFrame
from clonometer.tracing.census.launches import (
    LaunchSite,
    RuntimeVersion,
    launch_to_json,
    launches,
    worth_changing,
)
from clonometer.tracing.census.savings import IntervalEnds
from clonometer.tracing.census.tally import Census
from clonometer.views.document import Heading, NamedTexts, Paragraph
from clonometer.views.documents.census import census_document
from clonometer.views.documents.launches import launch_advice
from clonometer.views.terminal.document import render_document

render_census = partial(render_document, census_document)
COSTS = {"posix_spawn": (70_000.0, 80_000.0)}
PYTHON = {"/bin/python": RuntimeVersion("python", "3.11")}
MS = 1_000_000


def launched(number: int, did: dict[str, int] | None, **changes: Any) -> dict[str, Any]:
    line = {"creator_program": "/bin/python", "site": number, "did": did, "did_cut": False, "helper": None}
    return task(**(line | changes))


def forked(number: int, did: dict[str, int] | None, cost_ns: int = 30 * MS, **changes: Any) -> dict[str, Any]:
    times = {"cost_ns": cost_ns, "making_ns": cost_ns, "call_ns": cost_ns}
    return launched(number, did, **({"call": "clone", "flag_names": FORK} | times | changes))


def seen(
    *lines: dict[str, Any],
    runtimes: dict[str, RuntimeVersion] = PYTHON,
    costs_ns: Mapping[str, IntervalEnds] = COSTS,
    **changes: Any,
) -> list[LaunchSite]:
    stacks = [site(number, frame(0, "__fork"), frame(1, None, 80 + number, line=12 + number)) for number in (0, 1)]
    census = taken(*lines, *stacks, *MODULES, ended(stacks=STACKS))
    return launches(census, runtimes, load_book(), costs_ns, **changes)


CLOSES = {"close_range": 1}


@pytest.mark.parametrize(
    ("did", "option"),
    [
        (CLOSES | {"setsid": 1}, "preexec_fn=os.setsid"),
        (CLOSES | {"setgroups": 1}, "extra_groups="),
        (CLOSES | {"setresuid": 1}, "user="),
        (CLOSES | {"prlimit64": 1}, "preexec_fn= that calls resource.setrlimit"),
    ],
)
def test_what_a_child_did_names_the_option(did: dict[str, int], option: str) -> None:
    (launch,) = seen(*[forked(0, did)] * 8, is_root=True)
    assert launch.path is not None
    assert launch.path.option == option
    assert launch.title == f"subprocess.run, Popen, {option}"


def test_an_option_that_the_kernel_cannot_see_is_not_named() -> None:
    (launch,) = seen(*[forked(0, CLOSES)] * 8)
    assert launch.path is None
    assert {fit.path.name for fit in launch.fits} >= {"preexec_fn", "use_vfork"}
    assert launch.title == "subprocess.run, Popen"


@pytest.mark.parametrize(
    ("function", "module_name", "apis"),
    [("run", "subprocess", {"subprocess.run, Popen"}), ("spawnv", "os", {"os.spawnv, os.spawnl and so on"})],
)
def test_what_a_hook_said_was_called_tells_apis_apart(function: str, module_name: str, apis: set[str]) -> None:
    call = LanguageCall(
        "python",
        "os.fork",
        (
            LanguageFrame(True, module_name, function, "/lib/python3/x.py", 9),
            LanguageFrame(False, "__main__", "dear", "/src/slow.py", 12),
        ),
    )
    (launch,) = seen(*[forked(0, CLOSES if function == "run" else {})] * 8)
    site_said = replace(launch.site, language=call)
    census = Census()
    census.sites.by_cost = lambda: [site_said]  # type: ignore[method-assign]
    (spoken,) = launches(census, PYTHON, load_book(), COSTS)
    assert {fit.path.api for fit in spoken.fits} == apis
    assert spoken.site.where is not None
    assert spoken.site.where.place == "/src/slow.py:12"


def test_without_a_hook_no_api_is_preferred_for_its_spelling() -> None:
    """The book's names of a shell's ways are no functions: '$( ... )'."""
    (launch,) = seen(
        *[forked(0, {}, program="/bin/true")] * 8, runtimes={"/bin/python": RuntimeVersion("bash", "5.2.15")}
    )
    assert {"command", "background", "pipeline"} <= {fit.path.name for fit in launch.fits}


def test_a_launch_without_a_copy_is_not_advised_against() -> None:
    vfork = [launched(0, CLOSES)] * 8
    (launch,) = seen(*vfork)
    assert launch.fits
    assert launch.saved is None
    assert worth_changing([launch]) == []


@pytest.mark.parametrize(
    ("costs_ns", "forget", "took", "saves"),
    [
        ({}, (), " took 240 ms, since fork copies", "could not be measured here"),
        (COSTS, ("making_ns", "cost_ns", "call_ns"), ", each of which copies", "It grows with the program's memory"),
    ],
)
def test_advice_does_not_wait_for_a_price(
    costs_ns: dict[str, IntervalEnds], forget: Collection[str], took: str, saves: str
) -> None:
    """On a busy machine nothing may be left to compare with, and ptrace sees no times."""
    lines = [forked(0, CLOSES | {"setsid": 1}, **dict.fromkeys(forget)) for _ in range(8)]
    (launch,) = seen(*lines, costs_ns=costs_ns)
    assert (launch.saved, launch.is_unpriced) == (None, True)
    ((_, costs, entries),) = launch_advice(worth_changing([launch]))
    assert isinstance(costs, Paragraph)
    assert f"8 launches{took} the memory map." in costs.text
    assert isinstance(entries, NamedTexts)
    assert saves in entries.entries[-1].text
    few = seen(*lines[:5], costs_ns=costs_ns)
    assert worth_changing(few) == []


def test_what_a_package_installed_is_advised_last_in_one_sentence_of_its_own() -> None:
    def program(path: str, cost_ns: int) -> list[dict[str, Any]]:
        return [forked(0, CLOSES, creator_program=path, cost_ns=cost_ns) for _ in range(8)]

    compiled = RuntimeVersion("glibc", "2.36")
    runtimes = dict.fromkeys(("/usr/bin/git", "/home/me/mine"), compiled) | PYTHON
    listed = seen(*program("/usr/bin/git", 90 * MS), *program("/home/me/mine", 30 * MS), runtimes=runtimes)
    assert [launch.site.program for launch in listed] == ["/usr/bin/git", "/home/me/mine"]
    assert [launch.site.program for launch in worth_changing(listed)] == ["/home/me/mine", "/usr/bin/git"]
    mine, packaged = launch_advice(worth_changing(listed))
    assert isinstance(mine[0], Heading)
    (sentence,) = packaged
    assert isinstance(sentence, Paragraph)
    assert sentence.text.startswith("Installed programs")


def test_nothing_is_advised_to_a_shells_script_of_which_no_line_is_known() -> None:
    forks = [forked(0, {}, program="/bin/true", creator_program="/usr/bin/bash")] * 8
    (launch,) = seen(*forks, runtimes={"/usr/bin/bash": RuntimeVersion("bash", "5.2.15")})
    assert launch.saved is not None
    assert len(launch.fits) > 3
    assert worth_changing([launch]) == []
    line = LanguageFrame(False, "", "main", "/srv/build.sh", 12)
    at_line = replace(launch, site=replace(launch.site, language=LanguageCall("bash", "fork", (line,))))
    assert worth_changing([at_line]) == [at_line]


def test_no_reader_is_sent_to_the_source_of_an_interpreter() -> None:
    forks = [forked(0, CLOSES | {"setsid": 1})] * 8
    (launch,) = seen(*forks)
    ((heading, *_),) = launch_advice([launch])
    assert isinstance(heading, Heading)
    assert heading.text == "What to change: /bin/python, line not known"
    (compiled,) = seen(*[forked(0, CLOSES)] * 8, runtimes={"/bin/python": RuntimeVersion("glibc", "2.36")})
    assert compiled.site.where is not None
    ((heading, *_),) = launch_advice([replace(compiled, site=replace(compiled.site, program="/srv/mine"))])
    assert isinstance(heading, Heading)
    assert heading.text == f"What to change: {compiled.site.where.place}"


def test_lines_that_look_alike_and_have_one_reason_share_it() -> None:
    """Of a service in Node.js that runs already no line is known, and which call it was; all stop its event loop."""
    forks = [forked(0, {}, program="/bin/sh", creator_program="/usr/bin/node")] * 8
    (launch,) = seen(*forks, runtimes={"/usr/bin/node": RuntimeVersion("node", "20.20.2")})
    assert len(launch.fits) > 1
    ((_, _, entries),) = launch_advice([launch])
    assert isinstance(entries, NamedTexts)
    assert (
        "until then the event loop runs nothing else; one of these, which look alike: child" in entries.entries[0].text
    )
    different = [replace(fit, path=replace(fit.path, why=f"reason {n}")) for n, fit in enumerate(launch.fits)]
    ((_, _, entries),) = launch_advice([replace(launch, fits=tuple(different))])
    assert isinstance(entries, NamedTexts)
    assert entries.entries[0].text.startswith("one of these")


def test_advice_names_the_service_that_it_is_for() -> None:
    (launch,) = seen(*[forked(0, CLOSES | {"setsid": 1})] * 8)
    ((heading, *_),) = launch_advice([replace(launch, site=replace(launch.site, service="nginx.service"))])
    assert isinstance(heading, Heading)
    assert heading.text.endswith(" (service nginx.service)")


def test_evidence_has_functions_as_their_programmers_wrote_them() -> None:
    (launch,) = seen(*[forked(0, CLOSES | {"setsid": 1}, is_root=True)] * 8)
    (fit,) = launch.fits
    fit = replace(fit, evidence=("_RNvMsk_NtCsjrHSEGnQ3l9_3std7processNtB5_7Command6status() in the stack",))
    ((_, _, entries),) = launch_advice([replace(launch, fits=(fit,))])
    assert isinstance(entries, NamedTexts)
    assert "std::process::Command::status() in the stack" in [entry.text for entry in entries.entries]


def test_an_installed_interpreter_says_nothing_of_whose_script_it_runs() -> None:
    assert not RuntimeVersion("python", "3.11").is_packaged("/usr/bin/python3")
    assert RuntimeVersion("glibc", "2.36").is_packaged("/usr/bin/git")
    assert is_packaged("/srv/venv/lib/python3.11/site-packages/x.py")
    assert not is_packaged("/home/me/usr/bin/git")
    assert not is_packaged("/srv/lib/app.py")


def test_a_program_of_an_unknown_runtime_has_no_option() -> None:
    (launch,) = seen(*[forked(0, CLOSES | {"setsid": 1})] * 8, runtimes={})
    assert (launch.fits, launch.title, launch.saved) == ((), None, None)


def test_the_saving_is_that_of_the_programs_own_launches_where_it_has_enough() -> None:
    forks = [forked(0, CLOSES | {"setsid": 1}, cost_ns=30 * MS + step) for step in range(9)]
    alone = seen(*forks)[0].saved
    assert alone is not None
    assert alone.compared_with == "posix_spawn by a small program"
    low_ns, _ = Durations(30 * MS + step for step in range(9)).median_ends_ns
    assert alone.low_ns == 9 * (low_ns - 80_000)
    assert alone.high_ns == 9 * (30 * MS + 4 - 70_000)
    assert alone.value_ns == 9 * (30 * MS + 4 - 75_000)
    few = seen(*forks, *[launched(1, CLOSES, cost_ns=MS)] * 5)[0].saved
    assert few == alone
    beside = seen(*forks, *[launched(1, CLOSES, cost_ns=MS)] * 6)[0].saved
    assert beside is not None
    assert beside.compared_with == "its own launches that share memory"
    assert beside.value_ns == 9 * (30 * MS + 4 - MS)


def test_tasks_that_execute_nothing_are_not_counted_in_the_saving() -> None:
    did = CLOSES | {"setsid": 1}
    half = [*[forked(0, did)] * 6, *[forked(0, did, execs=0)] * 6]
    (launch,) = seen(*half)
    assert launch.saved is not None
    assert launch.saved.value_ns == 6 * (30 * MS - 75_000)


def test_the_first_forks_of_a_process_which_are_dearest_are_saved_too() -> None:
    did = CLOSES | {"setsid": 1}
    (launch,) = seen(*[forked(0, did, cost_ns=each * MS) for each in (90, 60, 30, 30, 30, 30, 30)])
    assert launch.saved is not None
    assert launch.saved.value_ns == 300 * MS - 7 * 75_000
    assert launch.saved.low_ns == 7 * (30 * MS - 80_000)
    assert launch.saved.low_ns < launch.saved.value_ns < launch.saved.high_ns


def test_only_the_call_that_copies_is_certain_to_be_saved_where_nothing_alike_was_launched() -> None:
    """A slow exec of few launches may have waited for a disk, and a small program's is short in any case."""
    did = CLOSES | {"setsid": 1}
    slow_exec = [forked(0, did, cost_ns=9 * MS, making_ns=70_000)]
    assert seen(*slow_exec * 5)[0].saved is None
    assert seen(*slow_exec * 20)[0].saved is None
    alike = [launched(1, CLOSES, cost_ns=8 * MS)] * 6
    assert seen(*slow_exec * 5, *alike)[0].saved is None
    assert seen(*slow_exec * 6, *alike)[0].saved is not None
    saved = seen(*[forked(0, did, cost_ns=9 * MS, making_ns=2 * MS)] * 5)[0].saved
    assert saved is not None
    assert saved.low_ns == 5 * (2 * MS - 80_000)
    assert saved.value_ns == 5 * (9 * MS - 75_000)


def test_nothing_is_saved_where_the_near_ends_do_not_differ_by_a_tenth() -> None:
    forks = [forked(0, CLOSES | {"setsid": 1}, cost_ns=85_000)] * 9
    assert seen(*forks)[0].saved is None
    assert seen(*[forked(0, CLOSES | {"setsid": 1}, cost_ns=90_000)] * 9)[0].saved is not None


def test_a_library_in_the_stack_is_what_launches() -> None:
    stack = site(
        0, frame(0, "__fork"), frame(2, "fork_exec", 8), frame(2, "g_spawn_sync", 9), frame(1, "main", 80, line=7)
    )
    did = {"close_range": 1, "dup2": 3, "rt_sigaction": 2}
    glib = module(2, "/lib/libglib-2.0.so.0.7400.6")
    census = taken(*[forked(0, did)] * 8, stack, *MODULES, glib, ended(stacks=STACKS))
    (launch,) = launches(census, {"/bin/python": RuntimeVersion("glibc", "2.36")}, load_book(), COSTS)
    assert launch.runtime == RuntimeVersion("glib", "2.74")
    assert "g_spawn_sync" in {fit.path.api for fit in launch.fits}


def test_the_answer_says_what_to_write_instead_and_its_json_is_valid() -> None:
    census = taken(
        *[forked(0, CLOSES | {"setsid": 1})] * 8,
        site(0, *LIBRARY, frame(1, None, 80, line=12)),
        *MODULES,
        ended(stacks=STACKS),
    )
    listed = launches(census, PYTHON, load_book(), COSTS)
    for width in (80, 120):
        text = render_census(census, "x", [], [], listed, width=width)
        assert max(map(len, text.splitlines())) <= width
        flat = " ".join(text.split())
        assert "What to change: /bin/python, line not known" in flat
        assert "subprocess.run, Popen, preexec_fn=os.setsid: 8 launches took 240 ms" in flat
        assert "Instead start_new_session=True" in flat
        assert "Saves 239 ms" in flat
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/census.schema.json").read_text())
    jsonschema.validate(
        [launch_to_json(each) for each in listed],
        {"type": "array", "items": {"$ref": "#/$defs/launch"}, **_defs(schema)},
    )


def _defs(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$defs": schema["$defs"]}
