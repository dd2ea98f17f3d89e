"""Limits for launches: reading, judging a census, recording, and the forms that CI reads."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePath
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from tests.tracing.test_census import FORK, THREAD, ended, taken, task

from clonometer.errors import InputError, UsageError
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
from clonometer.views.documents.budget import cautions
from clonometer.views.exports.github import github_annotations
from clonometer.views.exports.junit import junit_xml


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
