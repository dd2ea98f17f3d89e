"""Call sites with the option that chose their path, and what another launch would save."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any
from xml.etree.ElementTree import fromstring

import jsonschema
import pytest
from tests.fakes.census_lines import FORK, LIBRARY, MODULES, STACKS, THREAD, ended, frame, module, site, taken, task
from tests.schemas import schema

from clonometer.errors import InputError, UsageError
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
from clonometer.tracing.launch_limits import (
    CountedLaunches,
    LaunchBudget,
    LaunchLimits,
    judge_launches,
    read_launch_limits,
)
from clonometer.tracing.recorded_limits import recorded_limits
from clonometer.verdicts import Gate
from clonometer.views.document import Heading, NamedTexts, Paragraph
from clonometer.views.documents.budget import cautions
from clonometer.views.documents.census import census_document
from clonometer.views.documents.launches import launch_advice
from clonometer.views.exports.github import github_annotations
from clonometer.views.exports.junit import junit_xml
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
    jsonschema.validate(
        [launch_to_json(each) for each in listed],
        {"type": "array", "items": {"$ref": "#/$defs/launch"}, "$defs": schema("census")["$defs"]},
    )


def some_tasks(**end: Any) -> Census:
    """Two forks that execute git, a vfork that executes cc through env, and a thread."""
    fork = {"call": "clone", "flag_names": FORK, "program": "/usr/bin/git", "exit_signal": 17}
    lines = [
        task(**fork, site=1),
        task(**fork, site=1),
        task(helper="/usr/bin/env", did={}, did_cut=False, site=2),
        task(call="clone3", flag_names=THREAD, execs=0, program=None, site=3),
        {"line": "module", "module": 0, "path": "/home/me/run", "build_id": None},
        *(
            {
                "line": "site",
                "site": number,
                "ends": "complete",
                "frames": [
                    {
                        "module": 0,
                        "offset": number,
                        "function": "work",
                        "plus": 1,
                        "file": file,
                        "source_line": 10 + number,
                    }
                ],
            }
            for number, file in ((1, "/checkout/run.c"), (2, "/elsewhere/run.c"), (3, "/checkout/a:b,%.c"))
        ),
    ]
    return taken(*lines, ended(**{"tasks_created": 4, **end}))


def test_programs_without_a_name_leave_limits_of_programs_open_and_no_other() -> None:
    """A line keeps a hundred names: an execution beyond may have been of any program, so nothing passes for it."""
    fork = {"call": "clone", "flag_names": FORK, "exit_signal": 17, "site": 1}
    tasks = [task(**fork, program=f"/bin/{number}") for number in (*range(102), 1)]
    census = taken(*tasks, ended(tasks_created=len(tasks)))
    budget = judge_launches(census, ("run",), LaunchLimits({"fork": 103}, {"git": 1, "1": 1, "7": 3}))
    assert budget.unnamed_programs == 2
    assert [limit.verdict for limit in budget.limits] == [Gate.PASS, Gate.UNKNOWN, Gate.FAIL, Gate.PASS]
    assert "names are not known" in " ".join(budget.uncounted)
    text = recorded_limits([CountedLaunches.of(census)]).text
    assert tomllib.loads(text)["programs"] == {}
    assert "too many different ones" in text


def judged(limits: LaunchLimits, **end: Any) -> LaunchBudget:
    return judge_launches(some_tasks(**end), ("make", "test"), limits)


def test_counts_by_mechanism_and_program() -> None:
    counts = CountedLaunches.of(some_tasks())
    used = {name: count for name, count in counts.launches.items() if count}
    assert used == {"max": 4, "processes": 3, "thread": 1, "fork": 2, "vfork": 1}
    assert counts.programs == {"/usr/bin/git": 2, "/bin/cc": 1, "/usr/bin/env": 1}


@pytest.mark.parametrize(
    ("limits", "exceeded"),
    [
        (LaunchLimits({"max": 4, "processes": 3, "thread": 1, "fork": 2}, {"git": 2, "/bin/cc": 1}), []),
        (LaunchLimits({"max": 3}), ["max"]),
        (LaunchLimits({"processes": 2, "fork": 1, "vfork": 1}), ["processes", "fork"]),
        (LaunchLimits({"thread": 0}), ["thread"]),
        (LaunchLimits({}, {"git": 1, "/bin/git": 0, "env": 0}), ["programs.git", "programs.env"]),
    ],
)
def test_a_limit_is_exceeded_by_more_and_not_by_as_many(limits: LaunchLimits, exceeded: list[str]) -> None:
    answer = judged(limits)
    assert [limit.name for limit in answer.exceeded] == exceeded
    assert answer.verdict is (Gate.FAIL if exceeded else Gate.PASS)


def test_names_the_lines_that_count() -> None:
    (limit,) = judged(LaunchLimits({"processes": 0})).exceeded
    assert [(place.created, place.place, place.function) for place in limit.places] == [
        (2, "/checkout/run.c:11", "work"),
        (1, "/elsewhere/run.c:12", "work"),
    ]


def test_lost_events_leave_what_is_kept_unknown() -> None:
    answer = judged(LaunchLimits({"fork": 1, "thread": 5}), lost=3)
    assert [limit.verdict for limit in answer.limits] == [Gate.FAIL, Gate.UNKNOWN]
    assert answer.verdict is Gate.FAIL
    assert judged(LaunchLimits({"thread": 5}), lost=3).verdict is Gate.UNKNOWN


def test_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "launches.toml"
    path.write_text('[launches]\nmax = 120\n"clone(VM|VFORK)" = 0\n[programs]\ngit = 3\n')
    limits = read_launch_limits(path)
    assert limits == LaunchLimits({"max": 120, "clone(VM|VFORK)": 0}, {"git": 3})
    assert limits.with_limits(["max=5", "programs./bin/a=b=1"]) == LaunchLimits(
        {"max": 5, "clone(VM|VFORK)": 0}, {"git": 3, "/bin/a=b": 1}
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[launches]\nmax = -1\n", "launches: max is -1"),
        ("[launches]\nmax = true\n", "launches: max is True"),
        ("[launches]\nmax = 1.5\n", "launches: max is 1.5"),
        ("launches = 3\n", "launches is not a table"),
        ("[lunches]\n", "no table 'lunches'"),
        ("fork = 0\n", "fork stands in no table"),
        ("[launches\n", "is not TOML"),
        (f"[launches]\nmax = 0x{'f' * 5000}\n", "launches.max is a whole number beyond 64 bits"),
        ("[launches]\nforc = 1\n", "unknown limit 'forc'; did you mean 'fork'"),
    ],
)
def test_says_what_is_wrong_in_a_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "launches.toml"
    path.write_text(text)
    with pytest.raises((InputError, UsageError)) as caught:
        read_launch_limits(path)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["fork", "fork=", "fork=-1", "fork=²", "=3", "programs.git", "max=" + "9" * 5000])
def test_refuses_what_is_no_limit(text: str) -> None:
    with pytest.raises((InputError, UsageError)):
        LaunchLimits().with_limits([text])


def test_records_what_is_alike_and_comments_what_varies() -> None:
    def counts(fork: int, threads: int, git: int) -> CountedLaunches:
        launches = dict.fromkeys(CountedLaunches.of(some_tasks()).launches, 0)
        launches |= {"max": 3 + fork + threads, "processes": 3 + fork, "fork": fork, "vfork": 3, "thread": threads}
        return CountedLaunches(launches, {'/opt/a"\\\tb': 2, "/usr/bin/git": git, "/bin/git": 1})

    alike = tomllib.loads(recorded_limits([counts(1, 0, 4)] * 2).text)
    assert alike["launches"] == {"max": 4, "processes": 4, "fork": 1, "vfork": 3}
    # By file names: on another machine a program has another path, where this limit must hold too.
    assert alike["programs"] == {'a"\\\tb': 2, "git": 5}
    varying = recorded_limits([counts(1, 2, 4), counts(2, 2, 4)])
    assert tomllib.loads(varying.text)["launches"] == {"vfork": 3}
    assert "fork: 1 to 2 in 2 runs" in varying.varying
    # How many threads a runtime starts is chance, also if these runs had the same.
    threaded = tomllib.loads(recorded_limits([counts(1, 2, 4)] * 2).text)
    assert threaded["launches"] == {"processes": 4, "fork": 1, "vfork": 3}


def test_says_that_only_the_first_run_differs() -> None:
    def recorded(*makes: int, threads: tuple[int, ...] = (0, 0, 0)) -> bool:
        names = CountedLaunches.of(some_tasks()).launches
        counts = [
            CountedLaunches({**dict.fromkeys(names, 0), "processes": cc, "thread": thread, "max": cc + thread}, {})
            for cc, thread in zip(makes, threads, strict=True)
        ]
        return recorded_limits(counts).only_first_differs

    assert recorded(9, 2, 2)
    assert recorded(9, 2, 2, threads=(3, 4, 5))
    assert not recorded(2, 2, 2, threads=(3, 4, 5))
    assert not recorded(9, 2, 3)
    assert not recorded(9, 2, threads=(0, 0))


def test_says_what_may_be_executed_and_never_is() -> None:
    answer = judged(LaunchLimits({"max": 9}, {"git": 2, "gti": 2, "rm": 0}))
    assert answer.never_executed == ["gti"]
    assert "gti" in " ".join(cautions(answer))


def test_says_that_what_runs_on_may_create_more() -> None:
    census = taken(task(), task(alive=True, life_ns=None), ended())
    answer = judge_launches(census, ("make",), LaunchLimits({"max": 2}))
    assert (answer.verdict, answer.still_running) == (Gate.PASS, 1)
    assert "1 task still runs" in " ".join(cautions(answer))


def test_github_annotates_files_of_the_checkout_alone() -> None:
    answer = judged(LaunchLimits({"max": 0}))
    lines = list(github_annotations(answer, PurePath("/checkout"), lambda path: True))
    assert lines[0].startswith("::error title=Launch budget::make test created 4 tasks")
    assert [line.partition(",title")[0] for line in lines[1:]] == [
        "::error file=run.c,line=11",
        "::error file=a%3Ab%2C%25.c,line=13",
    ]
    assert len(list(github_annotations(answer, PurePath("/checkout"), lambda path: False))) == 1


def test_github_takes_no_command_from_a_name() -> None:
    answer = judge_launches(some_tasks(), ("a\n::set-output name=x::y",), LaunchLimits({"max": 9}))
    assert all("\n" not in line for line in github_annotations(answer, PurePath("/"), lambda path: True))


def test_junit_counts_and_explains() -> None:
    suite = fromstring(junit_xml(judged(LaunchLimits({"fork": 1, "thread": 1}))))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    (failure,) = suite.iter("failure")
    assert "/checkout/run.c:11: 2" in str(failure.text)
    lost = fromstring(junit_xml(judged(LaunchLimits({"thread": 1}), lost=1)))[0]
    assert [case.tag for case in lost[0]] == ["skipped"]


def test_junit_is_xml_whatever_a_program_is_called() -> None:
    name = "a\x00\x0b\ud800\ufffe\uffff\x1b[31m"
    suite = fromstring(junit_xml(judged(LaunchLimits({}, {name: 0}))))[0]
    assert [case.get("name") for case in suite] == ["programs.a??????[31m at most 0"]
