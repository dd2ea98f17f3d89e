"""Plain names stand for workloads wherever exactly one bears them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.catalogue import CATALOGUE

from clonometer.cli.commands.run import command as run_command
from clonometer.errors import UsageError, unknown
from clonometer.plan.about import About, Names
from clonometer.plan.adhoc import apply_only, plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.names import full_globs, full_name
from clonometer.plan.planfile import load_plan, parse_plan
from clonometer.plan.shipped import plan_names
from clonometer.plan.written import written_files
from clonometer.runner.drivers import find_drivers
from clonometer.words import mechanism_name

CELLS = ["launch.fork[temperature=cold]", "launch.fork[temperature=warm]", "launch.fork_exec", "wake.pipe", "ipc.pipe"]


def test_every_name_of_the_real_catalogue_stands_for_itself_or_is_said_to_be_several() -> None:
    workloads = list(read_catalogue(find_drivers().descriptions).workloads)
    last = [workload.rpartition(".")[2] for workload in workloads]
    assert {"vfork", "pthread", "posix_spawn", "factor"} <= {word for word in last if last.count(word) == 1}
    # A server bears it too, but only the launch is called so.
    assert last.count("fork") > 1
    for full, short in zip(workloads, last, strict=True):
        assert full_name(full, workloads) == full
        if mechanism_name(full) == short:
            assert full_name(short, workloads) == full
        elif short in map(mechanism_name, workloads):
            assert full_name(short, workloads) != full
        elif last.count(short) == 1:
            assert full_name(short, workloads) == full
        else:
            with pytest.raises(UsageError, match=rf"{short!r} may be .*{full}") as caught:
                full_name(short, workloads)
            assert caught.value.hint == "write it in full"


def test_plans_and_options_take_them() -> None:
    catalogue = read_catalogue(find_drivers().descriptions)
    plan = plan_from_arguments(["fork", "posix_spawn"], [], catalogue)
    assert [target.workload for target in plan.targets] == ["launch.fork", "launch.posix_spawn"]
    assert {cell.workload for cell in apply_only(plan, ["fork"]).cells} == {"launch.fork"}
    again = parse_plan('schema = 1\n[[cells]]\nworkloads = ["fork", "posix_spawn"]', "a plan", catalogue)
    assert [target.workload for target in again.targets] == ["launch.fork", "launch.posix_spawn"]
    with pytest.raises(UsageError, match="'pipe' may be"):
        plan_from_arguments(["pipe"], [], catalogue)


def test_globs_are_completed_and_must_match() -> None:
    assert full_globs(["fork"], CELLS) == ["launch.fork"]
    assert full_globs(["fork[*warm*]", "fork_exec"], CELLS) == ["launch.fork[*warm*]", "launch.fork_exec"]
    assert full_globs(["*pipe", CELLS[0]], CELLS) == ["*pipe", CELLS[0]]
    for glob, message in (
        ("pipe", "'pipe' may be ipc.pipe or wake.pipe"),
        ("forks", "unknown cell 'forks'; did you mean 'launch.fork'"),
        ("fork[temperature=hot]", r"unknown cell 'fork\[temperature=hot\]'"),
        ("nothing.*", "unknown cell"),
    ):
        with pytest.raises(UsageError, match=message):
            full_globs([glob], CELLS)


def test_an_unknown_name_gives_the_guess_and_a_few_others() -> None:
    many = [f"launch.{first}{last}" for first in "abcdefgh" for last in ("fork", "thread")] + ["launch.pthread"]
    error = unknown("workload", "pthred", many)
    assert error.message == "unknown workload 'pthred'; did you mean 'launch.pthread'?"
    assert error.hint is not None
    assert len(error.hint) < 120
    assert "17 exist: 'clonometer list' names them" in error.hint
    assert unknown("value of pages", "x", ["clean", "first"]).hint == "available: clean, first"


NAMES = Names(CATALOGUE, dict.fromkeys(CATALOGUE.workloads, "the driver probe (C)"))
STAGES = {quantity.stage for quantity in CATALOGUE.quantities.values() if quantity.stage}
VALUES = {value for axis in CATALOGUE.axes.values() for value in axis.values}
FAMILIES = {workload.family for workload in CATALOGUE.workloads.values()}
KINDS = {
    "workload": CATALOGUE.workloads,
    "axis": (*CATALOGUE.axes, "temperature"),
    "quantity": [name for name, quantity in CATALOGUE.quantities.items() if quantity.stage is None],
    "stage": STAGES,
    "plan": plan_names(),
    "family": FAMILIES,
}


def explained(name: str) -> list[About]:
    return NAMES.about(name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_explained_with_an_example_that_the_command_takes(kind):
    for name in KINDS[kind]:
        (meant,) = [each for each in explained(name) if (each.kind, each.name) == (kind, name)]
        assert meant.summary, name
        assert all(label and text for label, text in meant.facts)
        check_example(meant.example)


def check_example(line: str) -> None:
    program, subcommand, *words = shlex.split(line)
    assert (program, subcommand) == ("clonometer", "run")
    asked = run_command.make_context("run", words).params
    if asked["plan"] is not None:
        assert load_plan(asked["plan"], CATALOGUE).cells
    else:
        assert plan_from_arguments(asked["workloads"], asked["settings"], CATALOGUE).cells


def test_every_value_is_explained_with_an_example_that_sets_it():
    for value in VALUES:
        for meant in explained(value):
            if meant.kind == "value":
                check_example(meant.example)
                axis, _, text = meant.name.partition("=")
                assert any(
                    word.startswith(f"{axis}=") and text in word.partition("=")[2].split(",")
                    for word in shlex.split(meant.example)
                ), meant


def test_an_axis_says_what_it_takes_and_where_it_has_no_effect():
    (idle,) = explained("idle_ns")
    facts = dict(idle.facts)
    assert facts["takes"].endswith("at least 1")
    assert facts["default"] == "100000000 (100 ms)"
    assert facts["no effect"] == "without caches=idle"
    assert "caches=idle" in idle.example


def test_a_name_that_several_things_bear_explains_each():
    assert [(each.kind, each.name) for each in explained("cow")] == [("family", "cow"), ("plan", "cow")]
    assert [each.name for each in explained("pipe")] == ["wake.pipe", "switch.pipe", "ipc.pipe"]
    assert [each.name for each in explained("fork")] == ["launch.fork"]


def test_a_title_is_as_good_as_a_name():
    assert explained("program runs") == explained("image_runs") == explained("image_runs_ns")


def test_a_mistyped_name_gets_the_nearest():
    with pytest.raises(UsageError, match="unknown name 'parent_byte'; did you mean 'parent_bytes'"):
        explained("parent_byte")


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("echo 1 > /proc/sys/kernel/x", ["/proc/sys/kernel/x"]),
        ("echo 1 >/proc/a >>b 2>&1; echo 2>c", ["/proc/a", "b", "c"]),
        ("echo on | sudo tee -a /sys/x /sys/y > /dev/null", ["/dev/null", "/sys/x", "/sys/y"][1:]),
        ("for i in 0 1; do echo 1 > /sys/cpu$i/online; done", []),
        ("echo performance | tee /sys/cpu*/governor", ["/sys/cpu*/governor"]),
        ("sysctl vm.swappiness=10 kernel/pid_max=5 net.ipv4.conf.eth0/1.x=1", [
            "/proc/sys/vm/swappiness", "/proc/sys/kernel/pid_max", "/proc/sys/net/ipv4/conf/eth0.1/x",
        ]),
        ("/sbin/sysctl -q -w a.b='c d'\necho 1 > f", ["/proc/sys/a/b", "f"]),
        ("sudo sh -c 'echo 1 > /proc/z && bash -c \"echo 2 > y\"'", ["/proc/z", "y"]),
        ("echo 'a > b' \"c > d\"", []),
        ("echo 'unfinished > x", []),
        ("./switch on", []),
        ("sysctl -a", []),
        ("echo 1 > `which x`", []),
    ],
)  # fmt: skip
def test_names_are_found_where_the_text_says_them(command: str, files: list[str]) -> None:
    assert list(written_files(command)) == files


def test_home_is_known() -> None:
    assert written_files("echo 1 > ~/x") == (str(Path.home() / "x"),)
