"""Plain names stand for workloads wherever exactly one bears them."""

from __future__ import annotations

import pytest

from clonometer.errors import UsageError, unknown
from clonometer.plan.adhoc import apply_only, plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.names import full_globs, full_name
from clonometer.plan.planfile import parse_plan
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
