"""What was asked for by name and cannot be had: no file, one reason, status 4; plans that were named as workloads."""

from __future__ import annotations

import pytest
from tests.cli.conftest import CommandLine

from clonometer.cli.ending import run_to_the_end


def files(clonometer: CommandLine) -> set[str]:
    return {path.name for path in clonometer.folder.iterdir()} - {"bin", "starts.log"}


def test_a_workload_that_cannot_be_measured_leaves_no_file_and_fails(clonometer: CommandLine) -> None:
    (clonometer.folder / "clonometer-run.parquet").write_bytes(b"a former run")
    before = {name: (clonometer.folder / name).read_bytes() for name in files(clonometer)}
    clonometer.environ["FAKE_DRIVER_MODE"] = "skipped"
    ended = clonometer("run", "launch.fork", "--budget", "0.2")
    assert ended.returncode == 4
    assert ended.stdout == ""
    reason = "needs"
    assert sum(reason in line for line in ended.stderr.splitlines()) == 1, ended.stderr
    assert "no file was written" in ended.stderr
    assert {name: (clonometer.folder / name).read_bytes() for name in files(clonometer)} == before
    # A plan is for many machines: what one lacks is skipped.
    (clonometer.folder / "own.toml").write_text(
        'schema = 1\nname = "own"\nbudget_seconds = 0.2\n[[cells]]\nworkloads = "launch.fork"\n'
    )
    assert clonometer("run", "--plan", "own.toml", "--out", "plan.parquet").returncode == 0
    assert "plan.parquet" in files(clonometer)


def test_what_is_known_to_be_unavailable_is_told_once(clonometer: CommandLine) -> None:
    ended = clonometer("run", "launch.fork", "--set", "page_kind=hugetlb", "--set", "parent_bytes=2MiB")
    assert ended.returncode == 4
    assert ended.stderr.count("0 huge pages are reserved") == 1
    assert not files(clonometer)


def test_a_plan_that_is_named_as_a_workload_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_to_the_end(["run", "quick"]) == 2
    assert capsys.readouterr().err == ("clonometer: quick is a plan, not a workload\n  clonometer run --plan quick\n")
