from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clonometer.errors import InputError
from clonometer.records import to_json
from clonometer.results.check import check as checking
from clonometer.results.check.types import Checked, CheckedRow
from clonometer.results.compare.sides import read_side
from clonometer.results.compare.variance import UNKNOWN_VARIANCE, BetweenRunVariance, NoiseSource
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.run_document import CellEntry
from clonometer.verdicts import Gate

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/check.schema.json").read_text(encoding="utf-8"))
Build = Callable[..., Any]
TIMES = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


#: A machine whose runs hardly differ: what is tested here is the rule, and not what is assumed.
QUIET = BetweenRunVariance(NoiseSource.GIVEN, 0.002, 0.05)


def check(base: Any, run: Any, **options: Any) -> Checked:
    return checking.check_runs(base, run, **{"variance": QUIET, **options})


def again_of(checked: Checked, base: RunEstimates, again: RunEstimates) -> Checked:
    return checking.check_again(checked, base, again, QUIET)


def make(
    make_builder: Build, seed: int, *, reaped: float = 1.0, name: str = "run", size: int | None = None, **options: Any
) -> RunEstimates:
    """Three cells; in that of pthread ``reaped`` takes ``reaped`` times as long."""
    builder = make_builder(seed)
    for workload in ("launch.fork", "launch.pthread", "launch.vfork")[:size]:
        factor = reaped if workload == "launch.pthread" else 1.0
        builder.cell(workload, {**TIMES, "reaped_ns": TIMES["reaped_ns"] * factor}, **{"spread": 0.01, **options})
    return read_side(builder.run, name)


def slower(checked: Checked) -> CheckedRow:
    return next(
        row
        for row in checked.rows
        if row.compared.other.workload == "launch.pthread" and row.compared.other.stage == "reaped"
    )


def test_nothing_changed(make_builder: Build) -> None:
    checked = check(make(make_builder, 1, name="base"), make(make_builder, 2))
    assert (checked.verdict, checked.reasons, checked.n_tests) == ("pass", (), 9)
    assert {row.verdict for row in checked.rows} == {"pass"}
    assert all(row.detectable is not None and 0.05 <= row.detectable < 0.1 for row in checked.rows)


def test_a_slow_down_is_confirmed_where_it_is_and_nowhere_else(make_builder: Build) -> None:
    checked = check(make(make_builder, 1), make(make_builder, 2, reaped=1.1))
    assert checked.verdict == "fail"
    assert [row for row in checked.rows if row.verdict == "fail"] == [slower(checked)]


@pytest.mark.parametrize("times", [1.0, 1.5, 5.0])
def test_noise_that_nobody_has_measured_is_bounded_and_not_infinite(make_builder: Build, times: float) -> None:
    checked = check(make(make_builder, 1), make(make_builder, 2, reaped=times), variance=UNKNOWN_VARIANCE)
    assert checked.noise_source == "unknown"
    assert all(0.03 <= row.compared.between < 0.1 for row in checked.rows if row.compared.between)
    assert [row for row in checked.rows if row.verdict == "fail"] == ([slower(checked)] if times > 1 else [])
    assert checked.verdict == ("fail" if times > 1 else "unknown")
    if times == 1:
        assert checked.reasons[0].startswith("this check could have caught a slowdown of 10% in none of 9 warm rows")


def test_a_row_that_takes_several_times_as_long_is_told_on_a_noisy_machine(make_builder: Build) -> None:
    # With three kinds of process the noise between runs is bounded by that within them, which is drawn too.
    alike, thrice, four_times = (told_of_ten(make_builder, times) for times in (1.0, 3.0, 4.0))
    assert (alike, four_times) == (0, 10)
    assert thrice >= 8


def told_of_ten(make_builder: Build, times: float) -> int:
    """Of ten pairs of runs whose processes scatter by 15%, in how many just the row of so many times fails."""
    n_told = 0
    for seed in range(1, 21, 2):
        sides = make(make_builder, seed, spread=0.15), make(make_builder, seed + 1, reaped=times, spread=0.15)
        checked = check(*sides, variance=UNKNOWN_VARIANCE)
        n_told += checked.count(Gate.FAIL) == (slower(checked).verdict == Gate.FAIL) == 1
    return n_told


def test_what_became_faster_is_no_regression(make_builder: Build) -> None:
    checked = check(make(make_builder, 1), make(make_builder, 2, reaped=0.75))
    assert (checked.verdict, slower(checked).verdict) == ("pass", "pass")


def test_the_largest_slow_down_allowed_is_an_option(make_builder: Build) -> None:
    sides = make(make_builder, 1), make(make_builder, 2, reaped=1.1)
    assert check(*sides, max_regression=0.2).verdict == "pass"
    assert check(*sides, max_regression=0.03).verdict == "fail"


def test_what_is_not_sure_is_suspected_and_no_alarm(make_builder: Build) -> None:
    sides = make(make_builder, 1, spread=0.04), make(make_builder, 6, reaped=1.16, spread=0.1)
    checked = check(*sides)
    assert (slower(checked).verdict, slower(checked).suspect) == ("unknown", True)
    assert checked.verdict == "unknown"
    assert checked.reasons[0].startswith("1 row looks slower, but not certainly enough: --rerun")


def test_noise_that_hides_everything_is_said(make_builder: Build) -> None:
    sides = make(make_builder, 1, spread=0.3), make(make_builder, 2, spread=0.3)
    checked = check(*sides)
    assert checked.verdict == "unknown"
    assert checked.reasons[0].startswith("this check could have caught a slowdown of 10% in none of 9 warm rows")
    assert checked.decided_by is not None
    assert checked.decided_by.startswith("clonometer check run --baseline run --max-regression ")
    decidable = float(checked.decided_by.rpartition(" ")[2].rstrip("%")) / 100
    again = check(*sides, max_regression=decidable)
    assert not any("could have caught" in reason for reason in again.reasons)
    # Without the noise that was given the command would end where it began.
    named = check(*sides, noise="noise.json").decided_by
    assert named == f"clonometer check run --baseline run --noise noise.json --max-regression {decidable:.0%}"


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_too_few_processes_cannot_tell(make_builder: Build, processes: int) -> None:
    sides = [make(make_builder, seed, processes=processes, reaped=factor) for seed, factor in ((1, 1.0), (2, 3.0))]
    checked = check(*sides)
    assert (checked.verdict, checked.n_tests) == ("unknown", 0)
    assert checked.reasons == ("only 0 of 9 rows have enough processes for an alarm: measure longer",)


def test_a_disturbed_machine_does_not_alarm(make_builder: Build) -> None:
    """Processes that others pushed aside are no sample of what changed."""
    base = make(make_builder, 1)
    disturbed = make(make_builder, 2, reaped=1.1, facts={"involuntary_switches": 1000})
    for checked in (
        check(base, disturbed),
        again_of(check(base, make(make_builder, 2, reaped=1.1)), base, disturbed),
    ):
        assert (checked.verdict, slower(checked).suspect) == ("unknown", True)
        assert (
            "the machine was disturbed (run: other programs took the CPU away in 108 of 108 blocks)"
            in checked.reasons[0]
        )
    # Measured again on a quiet machine, it alarms.
    again = again_of(check(base, disturbed), base, make(make_builder, 3, reaped=1.1))
    assert again.verdict == "fail"


def test_a_cell_that_failed_in_the_run_is_not_passed_over(make_builder: Build) -> None:
    run = make(make_builder, 2, size=2)
    lost = "launch.vfork[temperature=warm]"
    entry = CellEntry(lost, "failed", "given up: 2 of 2 processes failed", None)
    document = replace(run.document, cells=[*run.document.cells, entry])
    checked = check(make(make_builder, 1), RunEstimates(run.all_rows, document, run.name))
    assert checked.verdict == "unknown"
    assert checked.reasons == (f"{lost} failed: given up: 2 of 2 processes failed",)


def test_a_cell_that_was_not_to_be_measured_is_only_said(make_builder: Build) -> None:
    checked = check(make(make_builder, 1), make(make_builder, 2, size=2))
    assert checked.verdict == "pass"
    assert [omitted.cell for omitted in checked.left_out] == ["launch.vfork[temperature=warm]"]


def test_runs_that_have_nothing_in_common_are_refused(make_builder: Build) -> None:
    other = make_builder(3)
    other.cell("clock.used", {"cost_ns": 9.0}, None)
    with pytest.raises(InputError, match="nothing to compare"):
        check(make(make_builder, 1), read_side(other.run, "other"))


def test_a_regression_that_shows_again_is_confirmed(make_builder: Build) -> None:
    base = make(make_builder, 1)
    checked = check(base, make(make_builder, 2, reaped=1.1))
    again = again_of(checked, base, make(make_builder, 3, reaped=1.1, processes=24))
    assert (again.verdict, again.rerun, slower(again).verdict) == ("fail", True, "fail")
    assert slower(again).again is not None


def test_a_regression_that_does_not_show_again_is_no_alarm(make_builder: Build) -> None:
    base = make(make_builder, 1)
    checked = check(base, make(make_builder, 2, reaped=1.1))
    again = again_of(checked, base, make(make_builder, 3, processes=24))
    assert (again.verdict, slower(again).verdict) == ("pass", "pass")


def test_two_measurements_that_disagree_cannot_tell(make_builder: Build) -> None:
    base = make(make_builder, 1)
    checked = check(base, make(make_builder, 2, reaped=1.1))
    again = again_of(checked, base, make(make_builder, 3, reaped=1.04, spread=0.2, processes=24))
    assert (again.verdict, slower(again).suspect) == ("unknown", True)
    assert "measured again, this is still open" in again.reasons[0]


def test_a_new_measurement_that_is_wide_and_yet_far_below_refutes_the_first(make_builder: Build) -> None:
    base = make(make_builder, 1)
    checked = check(base, make(make_builder, 2, reaped=2.0))
    again = again_of(checked, base, make(make_builder, 3, reaped=1.04, spread=0.2, processes=24))
    assert slower(again).again is not None
    assert 1.05 < (slower(again).again.change.high or 0) < (slower(checked).compared.change.low or 0)
    assert (slower(checked).verdict, slower(again).verdict) == ("fail", "unknown")
    assert again.verdict == "pass"


def test_what_could_not_be_measured_again_is_no_alarm(make_builder: Build) -> None:
    base = make(make_builder, 1)
    checked = check(base, make(make_builder, 2, reaped=1.1))
    again = again_of(checked, base, make(make_builder, 3, size=1))
    assert again.verdict == "unknown"
    assert again.reasons[0] == "launch.pthread[temperature=warm] could not be measured again"


def test_json_is_valid(make_builder: Build) -> None:
    base = make(make_builder, 1)
    checked = check(base, make(make_builder, 2, reaped=1.1))
    again = again_of(checked, base, make(make_builder, 3, reaped=1.1))
    for answer in (checked, again, check(base, make(make_builder, 2, processes=1))):
        document = json.loads(json.dumps(to_json(answer), allow_nan=False))
        Draft202012Validator(SCHEMA).validate(document)
        assert len(document["rows"]) == 9


def test_what_is_no_time_is_left_out_and_said(make_builder: Build) -> None:
    sides = []
    for seed, footprint in ((1, 4096), (2, 9999)):
        builder = make_builder(seed)
        builder.cell("queue.wait", {"wait_us": 5.0, "queue_bytes": footprint}, None, spread=0.01)
        sides.append(read_side(builder.run, str(seed)))
    checked = check(*sides)
    assert [row.compared.other.quantity for row in checked.rows] == ["wait_us"]
    assert [omitted.reason for omitted in checked.left_out] == [
        "queue_bytes is not a time: 'clonometer compare' shows it"
    ]
    assert checked.verdict == "pass"
    Draft202012Validator(SCHEMA).validate(to_json(checked))


def test_first_launches_are_suspected_at_most(make_builder: Build) -> None:
    def side(seed: int, cold: float, warm: float) -> RunEstimates:
        builder = make_builder(seed)
        for temperature, factor in (("cold", cold), ("warm", warm)):
            times = {name: time * factor for name, time in TIMES.items()}
            builder.cell("launch.fork", times, temperature, spread=0.01)
        return read_side(builder.run, f"run {seed}")

    base = side(1, 1.0, 1.0)
    slower_cold = check(base, side(2, 1.3, 1.0))
    assert (slower_cold.verdict, slower_cold.n_tests, slower_cold.n_first) == ("unknown", 6, 3)
    assert {(row.compared.base.temperature, row.verdict, row.suspect) for row in slower_cold.rows} == {
        ("cold", "unknown", True),
        ("warm", "pass", False),
    }
    assert all((row.detectable is None) == row.compared.base.is_first_launch for row in slower_cold.rows)
    again = again_of(slower_cold, base, side(3, 1.3, 1.0))
    assert {row.suspect for row in again.flagged} == {True}
    assert again_of(slower_cold, base, side(4, 1.0, 1.0)).verdict == "pass"
    slower_warm = check(base, side(5, 1.0, 1.1))
    assert slower_warm.verdict == "fail"
    assert {row.compared.base.temperature for row in slower_warm.flagged} == {"warm"}


def test_first_launches_alone_cannot_tell(make_builder: Build) -> None:
    def side(seed: int) -> RunEstimates:
        builder = make_builder(seed)
        builder.cell("launch.fork", TIMES, "cold", spread=0.01)
        return read_side(builder.run, "run")

    checked = check(side(1), side(2))
    assert checked.verdict == "unknown"
    assert checked.reasons[0].startswith("all rows are first launches (cold)")
