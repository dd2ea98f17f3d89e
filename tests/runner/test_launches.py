"""Running a snippet under a census that is faked: what is passed on, what is tried again, and why it failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clonometer.launch_paths.reading import load_book
from clonometer.runner import launches
from clonometer.runner.launches import Located, Ran, lacking, locate, run_snippet

BASH = load_book().runtime("bash")
COMMAND = BASH.paths[0]
HERE = Located("/bin/bash", "5.2")
END = {"line": "end", "timed_out": False, "interrupted": False, "lost": 0, "exit_status": 0}


class FakeCensus:
    """Answers with prepared lines, one answer a census, and notes the commands."""

    def __init__(self, *answers: Sequence[dict[str, Any]]) -> None:
        self.answers = list(answers)
        self.commands: list[list[str]] = []

    def __call__(self, receive: Callable[[dict[str, Any]], None], *, command: Sequence[str], **_: Any) -> None:
        self.commands.append(list(command))
        for line in [{"line": "begin", "how": "tracepoints"}, *self.answers.pop(0)]:
            receive(line)


def watched(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[dict[str, Any]]) -> tuple[Ran, FakeCensus]:
    census = FakeCensus(*answers)
    monkeypatch.setattr(launches, "take_census", census)
    return run_snippet(BASH, COMMAND, HERE), census


def task(tid: int, start_ns: int) -> dict[str, Any]:
    return {"line": "task", "tid": tid, "start_ns": start_ns}


def test_tasks_come_in_the_order_in_which_they_began(monkeypatch: pytest.MonkeyPatch) -> None:
    ran, census = watched(monkeypatch, [task(3, 20), task(2, 10), {"line": "site", "site": 0, "frames": []}, END])
    assert [each["tid"] for each in ran.tasks] == [2, 3]
    assert list(ran.sites) == [0]
    assert (ran.failure, ran.how) == (None, "tracepoints")
    assert census.commands[0][-2] == "/bin/bash"


def test_lost_events_are_tried_again_once_and_then_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    ran, _ = watched(monkeypatch, [{**END, "lost": 7}], [task(1, 1), END])
    assert (len(ran.tasks), ran.failure) == (1, None)
    ran, _ = watched(monkeypatch, [{**END, "lost": 7}], [{**END, "lost": 5}])
    assert ran.failure == "5 events were lost: tasks may be missing"


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ({"timed_out": True}, "did not end within 60 s"),
        ({"exit_status": 3}, "ended with status 3: it printed nothing"),
    ],
)
def test_a_snippet_that_fails_says_why(end: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, _ = watched(monkeypatch, [{**END, **end}])
    assert ran.failure == why


def test_an_interrupt_ends_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        watched(monkeypatch, [{**END, "interrupted": True}])


def test_a_setting_is_in_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    census = FakeCensus([END])
    monkeypatch.setattr(launches, "take_census", census)
    run_snippet(BASH, COMMAND, HERE, environment={"A": "1 2"})
    command = census.commands[0]
    assert command[command.index("env") + 1 :][:2] == ["A=1 2", "/bin/bash"]


def test_what_must_not_be_root_runs_as_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    census = FakeCensus([END], [END])
    monkeypatch.setattr(launches, "take_census", census)
    path = replace(COMMAND, needs=("not root",))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    run_snippet(BASH, path, HERE)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    run_snippet(BASH, path, HERE)
    assert ["setpriv" in command for command in census.commands] == [True, False]


def test_a_need_that_is_not_met_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert lacking(replace(COMMAND, needs=("root",))) == "root"
    assert lacking(COMMAND) is None


def test_each_version_is_located_once_and_what_says_none_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, answer in {
        "first": "Some 3.1",
        "second": "Some 3.1",
        "third": "Some 4",
        "broken": "command not found",
    }.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{answer}'\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    some = replace(
        BASH,
        programs=("first", "second", "third", "broken", "absent"),
        identify=("{program}",),
        version_pattern=r"^Some (?P<version>\d[\d.]*)$",
    )
    assert [(each.version, Path(each.program).name) for each in locate(some)] == [("3.1", "first"), ("4", "third")]
    assert locate(some, str(tmp_path / "broken")) == []
