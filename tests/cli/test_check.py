"""``clonometer check`` end to end: the fake driver becomes slower when it is told to."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.conftest import CommandLine, make_command_line

from clonometer.cli.ending import run_to_the_end
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.runner.drivers import find_drivers
from clonometer.runner.run import run

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/check.schema.json").read_text(encoding="utf-8"))
#: What 8 processes of a driver that scatters can tell, on a machine whose runs hardly differ.
LENIENT = ("--noise", "0.5%", "--max-regression", "10%")
SLOW = {"FAKE_DRIVER_CHILD_SPIN_NS": "40000"}


def measure(command_line: CommandLine, name: str, environ: dict[str, str]) -> None:
    """Measure without a budget, so that a busy machine gives as many processes as an idle one."""
    with pytest.MonkeyPatch.context() as patch:
        for key, value in {**command_line.environment(), **environ}.items():
            patch.setenv(key, value)
        drivers = find_drivers()
        catalogue = read_catalogue(drivers.descriptions)
        limits = {"processes": 8, "samples": 40, "blocks": 1, "warmup": 0}
        settings = ["temperature=warm"]
        plan = plan_from_arguments(["launch.fork", "launch.pthread"], settings, catalogue, limits=limits)
        out = command_line.folder / f"{name}.parquet"
        outcome = run(plan, catalogue, drivers, out=out, seed=1, scheduler=RoundsScheduler(1, None))
    assert outcome.exit_status == 0


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A baseline, a run of the same, and one with 40 us more until reaped: the same samples in every test session."""
    command_line = make_command_line(tmp_path_factory.mktemp("check"))
    for name, environ in (("base", {}), ("same", {}), ("slow", SLOW)):
        measure(command_line, name, {**environ, **samples_of(command_line, name)})
    return command_line


def samples_of(command_line: CommandLine, name: str) -> dict[str, str]:
    """What makes the samples of a run its own, whatever was measured before it."""
    return {"FAKE_DRIVER_SEED": f"{name} {{n}}", "FAKE_DRIVER_LOG": str(command_line.folder / f"{name}.log")}


def test_nothing_changed_is_0(runs: CommandLine) -> None:
    ended = runs("check", "same.parquet", "--baseline", "base.parquet", *LENIENT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "\nNo regression " in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert ended.stderr == ""


def test_a_regression_is_1_and_named(runs: CommandLine) -> None:
    ended = runs("check", "slow.parquet", "--baseline", "base.parquet", "--noise", "0.5%")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    rows = [line for line in ended.stdout.splitlines() if line.endswith("regressed")]
    assert len(rows) == 2
    assert all("reaped" in row for row in rows)
    assert "Regression: 2 rows are slower by 5% or more." in ended.stdout


def test_json_is_one_valid_object_and_the_status_is_the_same(runs: CommandLine) -> None:
    ended = runs("check", "slow.parquet", "--baseline", "base.parquet", "--noise", "0.5%", "--json")
    assert ended.returncode == 1
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    assert document["verdict"] == "fail"


def test_a_regression_that_rerun_sees_again_is_1(runs: CommandLine) -> None:
    runs.environ = {**SLOW, **samples_of(runs, "again")}
    ended = runs("check", "slow.parquet", "--baseline", "base.parquet", "--noise", "0.5%", "--rerun", "--json")
    runs.environ = {}
    assert ended.returncode == 1, ended.stdout + ended.stderr
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    flagged = [row for row in document["rows"] if row["again"]]
    assert {row["quantity"] for row in flagged} == {"reaped_ns"}
    # Twice as long, and the two kinds of process in turn.
    assert all(row["again"]["other"]["n_processes"] == 2 * row["other"]["n_processes"] for row in flagged)
    starts = [json.loads(line)["argv"] for line in (runs.folder / "again.log").read_text().splitlines()]
    kinds = ["launch.fork" in str(argv) for argv in starts if "--fd" in argv]
    assert len(kinds) == 32
    assert sum(first != second for first, second in pairwise(kinds)) >= 8


def test_a_regression_that_rerun_does_not_see_is_no_alarm(runs: CommandLine) -> None:
    runs.environ = samples_of(runs, "passed")
    ended = runs("check", "slow.parquet", "--baseline", "base.parquet", "--rerun", *LENIENT)
    runs.environ = {}
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "\nNo regression " in ended.stdout


def test_too_little_cannot_tell_and_is_3(runs: CommandLine) -> None:
    for name in ("few", "other"):
        ended = runs("run", "launch.fork", "--budget", "0.01", "--out", f"{name}.parquet", "--force")
        assert ended.returncode == 0
    ended = runs("check", "few.parquet", "--baseline", "other.parquet", "--noise", "1%")
    assert ended.returncode == 3
    assert "Cannot tell: only 0 of" in ended.stdout


def test_a_machine_whose_noise_nobody_has_measured_is_what_its_runs_show_or_the_user_says(runs: CommandLine) -> None:
    words = ("check", "same.parquet", "--baseline", "base.parquet")
    for more, status in (((), 3), (("--undecided", "pass"), 0), (("--undecided", "fail"), 1)):
        ended = runs(*words, *more)
        assert ended.returncode == status, ended.stdout + ended.stderr
        assert "Cannot tell: " in ended.stdout
        printed = " ".join(ended.stdout.split())
        assert "noise.json && clonometer check same.parquet --baseline base.parquet --noise noise.json" in printed
    for noise in ((), ("--noise", "0.5%")):
        assert runs("check", "slow.parquet", "--baseline", "base.parquet", *noise).returncode == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["same.parquet"], "missing option '--baseline'"),
        (["same.parquet", "--baseline", "absent.parquet"], "cannot read absent.parquet"),
        (["base.log", "--baseline", "base.parquet"], "base.log is not a Parquet file"),
        (["same.parquet", "--baseline", "base.parquet", "--max-regression", "0"], "not greater than 0"),
    ],
)
def test_what_cannot_be_is_refused(
    runs: CommandLine,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(runs.folder)
    assert run_to_the_end(["check", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
