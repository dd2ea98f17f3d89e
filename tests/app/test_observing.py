"""What a look at a server tells: its rate, what each task uses, its memory, and why something is not known."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.fakes.census_lines import FORK, ended, taken, task

from clonometer.app import observing
from clonometer.app.census import CensusAnswer
from clonometer.errors import UsageError

WALL_NS = 2_000_000_000


def observed(
    monkeypatch: pytest.MonkeyPatch,
    lines: Sequence[dict[str, Any]],
    *,
    predictions: Sequence[Mapping[str, Any]] = (),
    given: Sequence[str] = (),
    pid: int | None = None,
    own_faults: int | None = None,
) -> observing.Observed:
    tally = taken(*lines, ended(wall_ns=WALL_NS, tasks_created=len(lines), own_faults=own_faults))
    command = () if pid else ("server",)
    monkeypatch.setattr(observing, "census", lambda *_, **__: CensusAnswer(tally, command, pid, [], predictions))
    return observing.observe(pid=pid, command=command, seconds=2, given=given)


def child(**changes: Any) -> dict[str, Any]:
    return task(call="clone", flag_names=FORK, execs=0, cpu_ns=400_000, life_ns=700_000) | changes


def test_the_most_frequent_tasks_are_taken_for_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = [task(call="clone3", flag_names=["CLONE_VM", "CLONE_THREAD"], cpu_ns=9_000_000)] * 3
    sizes = [{"rss_bytes": 5 << 20}, {"rss_bytes": 80 << 20}]
    seen = observed(monkeypatch, [*threads, *[child()] * 10], predictions=sizes)
    # 700 us of life are less than twice the work: that is no waiting.
    assert seen.fields == {
        "memory_bytes": 80 << 20,
        "rate_hz": 5.0,
        "child_cpu_ns": 400_000,
        "child_launch": "fork",
        "child_faults": 417,
        "fork_call_ns": 80_000,
    }


def test_what_a_task_sleeps_is_its_life_without_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = observed(monkeypatch, [child(life_ns=5_400_000)] * 10)
    assert (seen.fields["child_cpu_ns"], seen.fields["block_ns"]) == (400_000, 5_000_000)


def test_of_threads_all_is_work_and_of_programs_their_exec_is_part(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = task(call="clone3", flag_names=["CLONE_VM", "CLONE_THREAD"], execs=0, cpu_ns=300_000, life_ns=400_000)
    assert observed(monkeypatch, [thread] * 10).fields["work_ns"] == 300_000
    program = observed(monkeypatch, [child(execs=1)] * 10)
    assert (program.fields["child_launch"], "work_ns" in program.fields) == ("spawn", False)
    # What a program's fork takes is not asked of other launches of programs.
    assert "fork_call_ns" not in program.fields


def test_faults_of_the_server_are_shared_by_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    assert observed(monkeypatch, [child()] * 10, own_faults=1_230).fields["parent_faults"] == 123
    # Threads have the same pages: nothing is copied.
    threads = [task(call="clone3", flag_names=["CLONE_VM", "CLONE_THREAD"])] * 10
    assert "parent_faults" not in observed(monkeypatch, threads, own_faults=1_230).fields


def test_tasks_that_never_ended_have_no_work_but_what_they_used_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = observed(monkeypatch, [child(alive=True, life_ns=None, cpu_ns=3_000_000)] * 10)
    assert not {"work_ns", "child_cpu_ns"} & seen.fields.keys()
    assert seen.fields["rate_hz"] == 5.0
    (text,) = [text for text in seen.texts if text.startswith("Work:")]
    assert "3.00 ms" in text
    assert "--for" in text
    # Of some that ended the others say nothing.
    some = observed(monkeypatch, [child(), *[child(alive=True, life_ns=None, cpu_ns=3_000_000)] * 9])
    assert some.fields["child_cpu_ns"] == 400_000


def test_where_the_kernel_does_not_say_what_tasks_used_it_is_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = child(cpu_ns=None, minor_faults=None, major_faults=None)
    seen = observed(monkeypatch, [unknown] * 10)
    assert not {"work_ns", "child_cpu_ns"} & seen.fields.keys()
    assert any("taken as stated" in text for text in seen.texts if text.startswith("Work:"))


def test_few_tasks_tell_no_rate_unless_it_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"created 4 tasks in 2\.0 s") as caught:
        observed(monkeypatch, [child()] * 4)
    assert "--for" in str(caught.value.hint)
    assert "rate_hz" not in observed(monkeypatch, [child()] * 4, given=["rate_hz"]).fields


def test_tasks_that_stay_are_a_pool_and_no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Node.js has ten threads of its own from its start on, which end with it."""
    pool = [task(call="clone3", flag_names=["CLONE_VM", "CLONE_THREAD"], life_ns=1_900_000_000)] * 10
    with pytest.raises(UsageError, match=r"created 0 tasks, and 10 that stayed in 2\.0 s"):
        observed(monkeypatch, pool)
    seen = observed(monkeypatch, pool, given=["rate_hz"])
    assert not {"rate_hz", "work_ns", "block_ns"} & seen.fields.keys()
    assert observed(monkeypatch, [*pool, *[child()] * 6]).fields["rate_hz"] == 3.0


def test_tasks_that_wait_for_a_cpu_at_their_start_do_not_tell_how_long_they_sleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = observed(monkeypatch, [child(life_ns=5_400_000, making_ns=80_000, runs_ns=1_000_000)] * 10)
    assert "block_ns" not in seen.fields
    (text,) = [text for text in seen.texts if text.startswith("Waiting:")]
    assert "920 µs for a CPU" in text
    assert "--block" in text


def test_a_command_that_ends_by_itself_is_said_to_have(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = taken(ended(wall_ns=30_000_000, tasks_created=0))
    monkeypatch.setattr(observing, "census", lambda *_, **__: CensusAnswer(tally, ("false",), None, [], []))
    with pytest.raises(UsageError, match=r"false ended after 0\.0 s"):
        observing.observe(command=("false",), seconds=2)


def test_the_memory_of_a_process_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = observed(monkeypatch, [child()] * 10, pid=os.getpid())
    assert seen.fields["memory_bytes"] > 1 << 20
    assert seen.features is not None
