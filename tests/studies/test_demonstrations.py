"""The teaching programs: each compiles on its own, runs here, and is explained from what it printed."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess

import pytest

from clonometer.cli.ending import run_to_the_end
from clonometer.errors import DriverError, UsageError
from clonometer.runner.drivers import run_program
from clonometer.studies.demonstrations import DEMOS, find_demo

NAMES = [
    "task-ids", "clone-vm", "clone-files", "clone-sighand", "clone-thread", "argument-race", "crash", "cow", "flags",
    "stack-cache", "fork-in-threads", "stack-overrun",
]  # fmt: skip
VALUES = {
    "task-ids": {"main_pid": "100", "main_tid": "100", "main_ppid": "99", "thread_pid": "100", "thread_tid": "101",
                 "thread_ppid": "99", "child_pid": "102", "child_tid": "102", "child_ppid": "100"},
    "clone-files": {"without_files": "open", "with_files": "closed"},
    "clone-sighand": {"without_sighand": "default", "with_sighand": "handler"},
    "clone-thread": {"parent_pid": "100", "ECHILD": "10", "without_thread_pid": "101", "without_thread_tid": "101",
                     "without_thread_wait_error": "0", "with_thread_pid": "100", "with_thread_tid": "102",
                     "with_thread_wait_error": "10"},
    "stack-overrun": {"numbers": "4096", "shared_signal": "0", "shared_wrong": "1288", "copied_signal": "0",
                      "copied_wrong": "0", "guarded_signal": "11", "guarded_wrong": "0"},
    "clone-vm": {"without_vm": "0", "with_vm": "42"},
    "argument-race": {
        "address": "0x7f", "address_threads": "1000", "address_wrong": "629", "value_threads": "1000",
        "value_wrong": "0", "element_threads": "1000", "element_wrong": "0",
    },
    "crash": {"workers": "3", "process_signal": "11", "processes_alive": "2", "thread_signal": "11",
              "threads_alive": "0"},
    "cow": {"memcpy_us": "8000", "pages": "16384", "written": "4096", "faults_reading": "0", "faults_writing": "4098",
            "first_write_ns": "3033", "second_write_ns": "13", "fork_us": "1727", "parent_still_reads": "1"},
    "flags": {"fork_call": "clone", "fork_flags": "CLONE_CHILD_CLEARTID | SIGCHLD", "fork_system_calls_first": "4",
              "fork_system_calls_next": "4", "thread_call": "clone3", "thread_flags": "CLONE_VM | CLONE_CHILD_CLEARTID",
              "thread_system_calls_first": "33", "thread_system_calls_next": "10"},
    "stack-cache": {"threads": "100", "same_stack": "99", "fresh_faults": "2.1", "reused_faults": "0.0",
                    "fresh_us": "22.15", "reused_us": "8.32"},
    "fork-in-threads": {"ETIMEDOUT": "110", "plain_tasks_in_parent": "2", "plain_tasks_in_child": "1",
                        "plain_error": "110", "atfork_error": "0"},
}  # fmt: skip


def test_these_exist():
    assert [demo.name for demo in DEMOS] == NAMES
    with pytest.raises(UsageError, match="did you mean 'cow'"):
        find_demo("cov")


@pytest.mark.parametrize("name", NAMES)
def test_every_source_compiles_on_its_own_with_the_line_it_names(name, tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    demo = find_demo(name)
    assert "shown */" not in demo.source
    words = shlex.split(demo.build)
    assert words[0] == "gcc"
    (tmp_path / demo.file).write_text(demo.source)
    built = subprocess.run([*words, "-Wall", "-Werror"], cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / words[words.index("-o") + 1]).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_that_are_shown_are_a_part_of_the_program(name):
    demo = find_demo(name)
    lines = {line.strip() for line in demo.source.splitlines()}
    shown = demo.shown.splitlines()
    assert 5 < len(shown) < 45
    assert {line.strip() for line in shown} <= lines
    assert max(map(len, shown)) <= 78


@pytest.mark.parametrize("name", NAMES)
def test_the_explanation_says_what_was_printed(name):
    text = " ".join(find_demo(name).explain(VALUES[name]))
    for key, value in VALUES[name].items():
        if key not in ("ETIMEDOUT", "ECHILD", "shared_signal", "plain_error", "pages", "checksum"):
            assert value in text.replace(",", ""), key


def test_a_race_that_nobody_lost_is_called_luck():
    text = " ".join(find_demo("argument-race").explain({**VALUES["argument-race"], "address_wrong": "0"}))
    assert "luck" in text


def test_output_without_values_is_refused():
    for output in ("", "nothing\n", "memcpy_us = 8000\npages = many\n"):
        for name in NAMES:
            with pytest.raises(DriverError, match=f"the demo {name} failed"):
                find_demo(name).read(output)


def test_a_program_that_is_missing_or_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    with pytest.raises(DriverError, match="demo-cow was not built"):
        run_program("demo-cow")
    program = tmp_path / "demo-cow"
    program.write_text("#!/bin/sh\necho no >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(DriverError, match="ended with status 3: no"):
        run_program("demo-cow")


def facts(name, capsys):
    assert run_to_the_end(["demo", name, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["values"]


@pytest.mark.real
def test_what_the_programs_find_here_is_what_the_kernel_promises(capsys):
    assert facts("clone-vm", capsys) == {"without_vm": "0", "with_vm": "42"}
    race = facts("argument-race", capsys)
    assert (race["value_wrong"], race["element_wrong"]) == ("0", "0")
    crash = facts("crash", capsys)
    assert (crash["processes_alive"], crash["threads_alive"]) == ("2", "0")
    assert crash["process_signal"] == crash["thread_signal"] == "11"
    cow = facts("cow", capsys)
    assert int(cow["faults_reading"]) < int(cow["written"]) / 10 < int(cow["faults_writing"])
    assert cow["parent_still_reads"] == "1"
    threads = facts("fork-in-threads", capsys)
    assert threads["plain_error"] == threads["ETIMEDOUT"]
    assert (threads["plain_tasks_in_child"], threads["atfork_error"]) == ("1", "0")
    assert int(facts("stack-cache", capsys)["same_stack"]) > 50


@pytest.mark.real
def test_who_a_task_is_and_what_a_flag_shares_is_what_the_kernel_promises(capsys):
    ids = facts("task-ids", capsys)
    assert ids["main_pid"] == ids["main_tid"] == ids["thread_pid"] == ids["child_ppid"]
    assert ids["thread_tid"] != ids["main_tid"]
    assert ids["thread_ppid"] == ids["main_ppid"]
    assert ids["child_pid"] == ids["child_tid"] != ids["main_pid"]
    assert facts("clone-files", capsys) == VALUES["clone-files"]
    assert facts("clone-sighand", capsys) == VALUES["clone-sighand"]
    made = facts("clone-thread", capsys)
    assert made["without_thread_pid"] == made["without_thread_tid"] != made["parent_pid"]
    assert made["with_thread_pid"] == made["parent_pid"] != made["with_thread_tid"]
    assert (made["without_thread_wait_error"], made["with_thread_wait_error"]) == ("0", made["ECHILD"])


@pytest.mark.real
def test_a_stack_that_is_too_small_ends_in_the_neighbour_s_unless_a_page_guards_it(capsys):
    overrun = facts("stack-overrun", capsys)
    assert 0 < int(overrun["shared_wrong"]) < int(overrun["numbers"])
    assert [overrun[f"{how}_signal"] for how in ("shared", "copied", "guarded")] == ["0", "0", "11"]
    assert (overrun["copied_wrong"], overrun["guarded_wrong"]) == ("0", "0")


@pytest.mark.real
def test_the_kernel_saw_the_flags_of_the_study(capsys):
    try:
        values = facts("flags", capsys)
    except AssertionError:
        if "tracing is not possible" in capsys.readouterr().err:
            pytest.skip("ptrace is not permitted here")
        raise
    assert {"CLONE_CHILD_SETTID", "CLONE_CHILD_CLEARTID", "SIGCHLD"} <= set(values["fork_flags"].split(" | "))
    shared = {"VM", "FS", "FILES", "SYSVSEM", "SIGHAND", "THREAD", "SETTLS", "PARENT_SETTID", "CHILD_CLEARTID"}
    assert {f"CLONE_{flag}" for flag in shared} <= set(values["thread_flags"].split(" | "))
    assert int(values["thread_system_calls_first"]) > int(values["fork_system_calls_first"])


def test_a_demo_is_shown_run_and_explained(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["demo"], ["demo", "clone-vm"], ["demo", "clone-vm", "--source"]):
        assert run_to_the_end(words) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in NAMES)
    assert "answer = 42;" in shown
    assert "What was seen" in shown
    assert "int main(void)" in shown


def test_an_unknown_demo_ends_with_2_and_what_exists(capsys):
    for words, text in ((["demo", "clone"], "did you mean 'clone-vm'"), (["demo", "--source"], "needs the name")):
        assert run_to_the_end(words) == 2
        assert text in capsys.readouterr().err
