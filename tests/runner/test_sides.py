"""What sides are started in: settings are switched and always put back, variables arrive, pairs are kept."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import FAKE_DRIVER
from tests.runner.conftest import FAKE_COMMAND

from clonometer.errors import EXIT_FAILED_CELLS, EXIT_INTERRUPTED, UsageError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.sides import Side, plan_of_sides, with_side_axis
from clonometer.plan.types import Target
from clonometer.records import to_json
from clonometer.runfile import open_run
from clonometer.runner.drivers import find_drivers
from clonometer.runner.interfaces import Progress as Silent
from clonometer.runner.run import RunOutcome, run
from clonometer.runner.sides import SideHooks, check_commands, with_drivers

ABOUT: dict[str, Any] = {"a": [], "b": [], "most_pairs": 9, "minimum_effect": 0.02, "max_regression": None}
ABOUT |= {"error_rate": 0.05, "stages": []}
# A, then B, B and A: sides change twice.
ORDER = (0, 1, 1, 0)


class InThisOrder:
    """Names the targets of `ORDER`, and may break."""

    def __init__(self, breaks_at: int | None = None) -> None:
        self.left = list(ORDER)
        self.breaks_at = breaks_at

    def begin(self, plan: object) -> None: ...

    def next_target(self, elapsed_s: float) -> int | None:
        if self.breaks_at == len(ORDER) - len(self.left):
            raise RuntimeError("a mistake of ours")
        return self.left.pop(0) if self.left else None

    def pair_of(self, target: int) -> int:
        return (len(ORDER) - len(self.left) - 1) // 2

    def process_ended(self, target: int, seconds: float, samples: object) -> None: ...

    def drop(self, target: int) -> None:
        self.left = []

    def stopped_by(self, target: int) -> str | None:
        return "processes"

    def remaining_s(self, elapsed_s: float) -> float | None:
        return None


class SignalAt(Silent):
    """Asks to stop while a process is being started."""

    def __init__(self, process: int, number: int) -> None:
        self.process, self.number = process, number

    def process_started(self, target: Target, process: int, *_: Any) -> None:
        if process == self.process:
            os.kill(os.getpid(), self.number)


class Sides:
    """Runs two sides with the fake driver; commands write into the log of its starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.log = folder / "starts.log"
        monkeypatch.setenv("FAKE_DRIVER_LOG", str(self.log))

    def command(self, word: str, status: int = 0) -> str:
        """A command that says so in the log of starts; the shell is told the name of the log in a variable."""
        return f"LOG={self.log}; echo '{json.dumps({'argv': [word]})}' >> $LOG; echo no way >&2; exit {status}"

    def __call__(self, a: Side, b: Side, scheduler: InThisOrder | None = None, **options: Any) -> RunOutcome:
        usual = find_drivers([FAKE_COMMAND])
        drivers, catalogue, sides = with_drivers(usual, read_catalogue(usual.descriptions), (a, b))
        catalogue = with_side_axis(catalogue)
        limits = {"samples": 3, "blocks": 1}
        plan = plan_from_arguments(["launch.fork"], ["temperature=warm"], catalogue, budget_seconds=1.0, limits=limits)
        plan = plan_of_sides(plan, sides, catalogue, strict=True)
        scheduler = scheduler or InThisOrder()
        options |= {"hooks": SideHooks(plan, sides, scheduler.pair_of), "described": {"sides": ABOUT}}
        out = self.folder / "ab.parquet"
        return run(plan, catalogue, drivers, out=out, seed=1, scheduler=scheduler, **options)

    def happened(self) -> list[str]:
        """What was started, in order."""
        words = [json.loads(line)["argv"] for line in self.log.read_text().splitlines()]
        names = ["process" if "--fd" in argv else argv[0] for argv in words]
        return [name for name in names if not name.startswith("--")]

    def metadata(self) -> Any:
        with open_run(self.folder / "ab.parquet") as measured:
            return to_json(measured.document)


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sides:
    return Sides(tmp_path, monkeypatch)


def test_a_setting_is_switched_where_the_side_changes_and_put_back_at_the_end(sides: Sides) -> None:
    b = Side("b", do=sides.command("do"), undo=sides.command("undo"))
    outcome = sides(Side("a"), b)
    assert outcome.status == "complete"
    happened = sides.happened()
    assert [word for word in happened if word != "process"] == ["do", "undo"]
    assert happened[happened.index("do") + 1 : happened.index("undo")] == ["process", "process"]
    assert [entry["pair"] for entry in sides.metadata()["processes"]] == [0, 0, 1, 1]
    assert sides.metadata()["sides"] == ABOUT


def test_both_sides_may_have_a_setting_and_the_last_is_put_back(sides: Sides) -> None:
    a = Side("a", do=sides.command("do a"), undo=sides.command("undo a"))
    b = Side("b", do=sides.command("do b"), undo=sides.command("undo b"))
    sides(a, b)
    assert [word for word in sides.happened() if word != "process"] == [
        "do a", "undo a", "do b", "undo b", "do a", "undo a",
    ]  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_put_back_when_the_user_wants_to_stop_and_what_was_measured_is_kept(sides: Sides, number: int) -> None:
    b = Side("b", do=sides.command("do"), undo=sides.command("undo"))
    outcome = sides(Side("a"), b, progress=SignalAt(1, number))
    assert (outcome.exit_status, outcome.status) == (EXIT_INTERRUPTED, "partial")
    assert sides.happened()[-1] == "undo"
    assert sides.metadata()["processes"][0]["status"] == "ok"


def test_it_is_put_back_after_a_mistake_of_ours(sides: Sides) -> None:
    b = Side("b", do=sides.command("do"), undo=sides.command("undo"))
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        sides(Side("a"), b, InThisOrder(breaks_at=2))
    assert sides.happened()[-1] == "undo"


def test_a_command_that_fails_ends_the_run_and_keeps_what_was_measured(sides: Sides) -> None:
    b = Side("b", do=sides.command("do", 3), undo=sides.command("undo"))
    outcome = sides(Side("a"), b)
    assert (outcome.status, outcome.exit_status) == ("partial", EXIT_FAILED_CELLS)
    assert outcome.reason is not None
    assert outcome.reason.startswith("--b do=")
    assert outcome.reason.endswith("ended with status 3: no way")
    assert outcome.trouble is not None
    # What failed may have done half of its work.
    assert [word for word in sides.happened() if word != "process"] == ["do", "undo"]
    assert [entry["status"] for entry in sides.metadata()["processes"]] == ["ok"]


def test_nothing_is_written_where_the_first_command_fails(sides: Sides) -> None:
    a = Side("a", do=sides.command("do", 1), undo=sides.command("undo"))
    outcome = sides(a, Side("b"))
    assert (outcome.path, outcome.exit_status) == (None, EXIT_FAILED_CELLS)
    assert not list(sides.folder.glob("ab.*"))


def test_a_setting_that_is_not_put_back_is_told_with_how_to_do_it(sides: Sides) -> None:
    b = Side("b", do=sides.command("do"), undo=sides.command("undo", 1))
    outcome = sides(Side("a"), b)
    assert (outcome.status, outcome.exit_status) == ("partial", EXIT_FAILED_CELLS)
    assert outcome.reason is not None
    assert "the setting may still be in force. To restore it: " in outcome.reason
    assert len(sides.metadata()["processes"]) == 3


def test_a_side_has_its_variables_and_the_other_has_not(sides: Sides) -> None:
    sides(Side("a"), Side("b", environment={"FAKE_DRIVER_CHILD_SPIN_NS": "50000000"}))
    with open_run(sides.folder / "ab.parquet") as measured:
        reaped = {cell: int(measured.columns(cell, ["reaped_ns"])["reaped_ns"].min()) for cell in measured.cells()}
    assert reaped["launch.fork[side=a,temperature=warm]"] < 40_000_000
    assert reaped["launch.fork[side=b,temperature=warm]"] > 50_000_000


def test_a_side_may_have_a_driver_whose_linkage_is_its_condition(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    other = sides.folder / "mine"
    other.write_text(f'#!/bin/sh\nFAKE_DRIVER_LINKAGE=dynamic_lazy exec "{FAKE_DRIVER}" "$@"\n')
    other.chmod(0o755)
    sides(Side("a"), Side("b", driver=(str(other),)))
    metadata = sides.metadata()
    assert [entry["driver"] for entry in metadata["processes"]] == [FAKE_DRIVER.name, "mine", "mine", FAKE_DRIVER.name]
    assert metadata["plan"]["cells"][1]["cell"] == "launch.fork[linkage=dynamic_lazy,side=b,temperature=warm]"


def test_what_has_no_other_side_says_so_and_blames_no_budget(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DRIVER_MODE", "skipped")
    scheduler = InThisOrder()
    monkeypatch.setattr(scheduler, "stopped_by", lambda target: None)
    outcome = sides(Side("a"), Side("b", environment={"X": "1"}), scheduler)
    assert outcome.exit_status == EXIT_FAILED_CELLS
    assert [end.status for end in outcome.cells] == ["skipped", "missing"]
    assert outcome.reason == "1 of 2 cells have nothing to be compared with"


def test_what_cannot_be_started_is_refused_beforehand(sides: Sides) -> None:
    with pytest.raises(UsageError, match=r"--b undo='echo \(': .*[Ss]yntax error"):
        check_commands([Side("b", do="true", undo="echo (")])
    with pytest.raises(UsageError, match="--b driver=/nowhere/probe: no driver can be used"):
        sides(Side("a"), Side("b", driver=("/nowhere/probe",)))
    with pytest.raises(UsageError, match="the driver of --b says linkage=static, not musl"):
        sides(Side("a"), Side("b", axes={"linkage": "musl"}, driver=FAKE_COMMAND))


def test_what_a_command_writes_is_read_back_and_kept_in_the_run(sides: Sides) -> None:
    setting = sides.folder / "enabled"
    setting.write_text("always [madvise] never\n")
    b = Side("b", do=f"echo '[always] madvise never' > {setting}", undo=f"echo 'always [madvise] never' > {setting}")
    outcome = sides(Side("a"), b)
    assert outcome.status == "complete"
    assert sides.metadata()["settings"] == [
        {
            "side": "b", "name": str(setting), "before": "madvise", "during": "always", "after": "madvise", "times": 1,
            "not_verified": None,
        }
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["5", "do it"])
def test_a_setting_that_was_never_switched_is_an_error(sides: Sides, word: str) -> None:
    setting = sides.folder / "setting"
    setting.write_text(f"{word}\n")
    b = Side("b", do=f"echo '{word}' > {setting}", undo="true")
    outcome = sides(Side("a"), b)
    assert outcome.exit_status == EXIT_FAILED_CELLS
    assert outcome.trouble is not None
    assert f"changed nothing: {setting} is {word} before and after it" in outcome.trouble.message
    assert len(sides.happened()) == 1  # the process of A; none of B


def test_the_first_example_of_a_shell_runs_in_one(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was not there before: it has no value to go back to, and must only not stay as it was switched."""
    monkeypatch.chdir(sides.folder)
    b = Side("b", do="echo 1 > switched.txt", undo="echo 0 > switched.txt")
    assert sides(Side("a"), b).status == "complete"
    assert (sides.folder / "switched.txt").read_text() == "0\n"
    [record] = sides.metadata()["settings"]
    assert (record["before"], record["during"], record["after"]) == ("no file", "1", "0")


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_what_undo_leaves_is_an_error_that_says_the_former_value(sides: Sides, number: int | None) -> None:
    setting = sides.folder / "setting"
    setting.write_text("4")
    b = Side("b", do=f"echo 5 > {setting}", undo=f"echo 6 > {setting}")
    outcome = sides(Side("a"), b, progress=Silent() if number is None else SignalAt(1, number))
    assert outcome.trouble is not None
    assert outcome.trouble.message.startswith("NOT RESTORED: after --b undo=")
    assert f"{setting} was 4 and is 6 now" in outcome.trouble.message
    # No process of A was measured under what B left.
    assert sides.happened().count("process") <= (3 if number is None else 2)


def test_what_cannot_be_read_back_is_said(sides: Sides) -> None:
    pipe = sides.folder / "pipe"
    os.mkfifo(pipe)
    a = Side("a", do=sides.command("on"), undo=sides.command("off"))
    b = Side("b", do=f"true <> {pipe}; true 2> {sides.folder}/nowhere/x || true", undo="true")
    outcome = sides(a, b)
    assert outcome.status == "complete", outcome.reason
    reasons = [(record["side"], record["not_verified"]) for record in sides.metadata()["settings"]]
    assert reasons == [
        ("a", "the command names no file that can be read back"),
        ("b", "it cannot be read"),
        ("b", "the file exists neither before nor after"),
    ]


def test_a_command_that_hangs_is_stopped(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonometer.runner.settings.COMMAND_TIMEOUT_S", 0.3)
    outcome = sides(Side("a"), Side("b", do="sleep 60", undo=sides.command("undo")))
    assert outcome.reason == "--b do='sleep 60' took longer than 0 s and was stopped"
    assert sides.happened()[-1] == "undo"


def test_both_a_failure_and_what_it_left_are_said(sides: Sides) -> None:
    outcome = sides(Side("a"), Side("b", do="exit 3", undo="echo why >&2; exit 4"))
    assert outcome.reason is not None
    assert (
        "--b do='exit 3' ended with status 3; --b undo='echo why >&2; exit 4' ended with status 4: why"
        in outcome.reason
    )
