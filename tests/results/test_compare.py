from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clonometer.errors import InputError, UsageError
from clonometer.records import to_json
from clonometer.results.compare import comparison
from clonometer.results.compare.apart import command_of_pairs, open_row
from clonometer.results.compare.comparison import compare_cells
from clonometer.results.compare.differences import differences
from clonometer.results.compare.sides import read_side
from clonometer.results.compare.types import Compared, ComparedRow, Difference, Provenance
from clonometer.results.compare.variance import NO_VARIANCE, UNKNOWN_VARIANCE, BetweenRunVariance, NoiseSource
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.run_document import PlanTarget

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/compare.schema.json").read_text(encoding="utf-8"))
Build = Callable[..., Any]
TIMES = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


#: A machine whose runs hardly differ: what is tested here is the rule, and not what is assumed.
QUIET = BetweenRunVariance(NoiseSource.GIVEN, 0.001, 0.05)


def compare_runs(sides: Any, **options: Any) -> Compared:
    return comparison.compare_runs(sides, **{"variance": QUIET, **options})


def times(factor: float) -> dict[str, float]:
    return {name: value * factor for name, value in TIMES.items()}


def side(builder: Any, name: str) -> RunEstimates:
    return read_side(builder.run, name)


def one_cell(make_builder: Build, factor: float, seed: int, name: str = "b", **options: Any) -> RunEstimates:
    builder = make_builder(seed)
    builder.cell("launch.fork", times(factor), **options)
    return side(builder, name)


def rows(compared: Compared) -> dict[str | None, ComparedRow]:
    return {row.other.stage: row for row in compared.pairs[0].rows}


def test_a_slower_run_is_slower_and_the_other_way_round_faster(make_builder: Build) -> None:
    before, after = one_cell(make_builder, 1.0, 1, "a"), one_cell(make_builder, 1.3, 2)
    for sides, verdict, ratio in (((before, after), "more", 1.3), ((after, before), "less", 1 / 1.3)):
        compared_rows = rows(compare_runs(sides))
        assert {row.verdict for row in compared_rows.values()} == {verdict}
        for row in compared_rows.values():
            assert row.change.value == pytest.approx(ratio, rel=0.05)
            assert row.change.low is not None
            assert row.change.high is not None
            assert row.change.low < ratio < row.change.high


def test_a_change_below_the_minimum_effect_is_no_change(make_builder: Build) -> None:
    before = one_cell(make_builder, 1.0, 1, "a", spread=0.001)
    after = one_cell(make_builder, 1.012, 2, spread=0.001)
    for effect, verdict in ((0.02, "equal"), (0.005, "more")):
        row = rows(compare_runs([before, after], minimum_effect=effect))["reaped"]
        assert row.verdict == verdict
    assert rows(compare_runs([before, after]))["reaped"].within == pytest.approx(0.016, abs=0.002)


def test_noise_is_not_distinguishable(make_builder: Build) -> None:
    before, after = (one_cell(make_builder, 1.0, seed, spread=0.3) for seed in (1, 2))
    assert {row.verdict for row in rows(compare_runs([before, after])).values()} == {"unknown"}


def test_many_rows_are_corrected_for(make_builder: Build) -> None:
    """A row that is told apart alone is not, where it is one of hundreds."""
    builders = make_builder(11), make_builder(12)
    for place in range(60):
        for builder, factor in zip(builders, (1.0, 1.06 if place == 0 else 1.0), strict=True):
            builder.cell("launch.fork", times(factor), processes=12, samples=5, parent_bytes=4096 * place)
    before, after = (side(builder, name) for builder, name in zip(builders, "ab", strict=True))
    first = next(iter(before.cells))
    alone = compare_runs([before.with_rows(before.cells[first].values()), after])
    assert {row.verdict for row in alone.pairs[0].rows} == {"more"}
    together = compare_runs([before, after])
    assert together.n_tests == 180
    for compared_row in alone.pairs[0].rows:
        same = next(
            row
            for row in together.pairs[0].rows
            if row.other.cell == first and row.other.stage == compared_row.other.stage
        )
        assert None not in (same.change.low, same.change.high, compared_row.change.low, compared_row.change.high)
        assert same.change.high / same.change.low > compared_row.change.high / compared_row.change.low  # type: ignore[operator]


def test_all_runs_together_are_one_family(make_builder: Build) -> None:
    sides = [one_cell(make_builder, 1.0, seed, str(seed)) for seed in (1, 2, 3)]
    compared = compare_runs(sides)
    assert [(pair.base, pair.other) for pair in compared.pairs] == [("1", "2"), ("1", "3")]
    assert compared.n_tests == 6


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_few_processes_give_no_verdict(make_builder: Build, processes: int) -> None:
    sides = [one_cell(make_builder, factor, 3, str(factor), processes=processes, spread=0.0) for factor in (1.0, 2.0)]
    for row in rows(compare_runs(sides)).values():
        assert row.verdict == "unknown"
        assert row.reason is not None
        # Nor a ratio: of so few nobody knows how far it may be off.
        assert (row.change.value, row.change.low) == (None, None)


def test_constant_samples_are_the_same_within_what_the_clock_can_tell(make_builder: Build) -> None:
    sides = [one_cell(make_builder, 1.0, seed, str(seed), spread=0.0) for seed in (1, 2)]
    row = rows(compare_runs(sides, variance=NO_VARIANCE))["reaped"]
    assert (row.change.value, row.change.low, row.change.high, row.verdict, row.within) == (
        1.0,
        1.0,
        1.0,
        "equal",
        0.001,
    )


def test_one_step_of_the_clock_is_no_change(make_builder: Build) -> None:
    sides = []
    for value in (12, 13):
        builder = make_builder(1)
        builder.run.metadata["clock"]["clock_hz"] = 500_000_000  # steps of 2 ns
        builder.cell("launch.none", {"call_returns_ns": value, "reaped_ns": value}, None, spread=0.0)
        sides.append(side(builder, str(value)))
    for row in compare_runs(sides).pairs[0].rows:
        assert row.verdict == "unknown"
        assert row.reason == "one step of the clock is 17% of it"


def test_a_median_of_zero_has_no_ratio(make_builder: Build) -> None:
    sides = []
    for value in (0, 40):
        builder = make_builder(1)
        builder.cell("launch.none", {"call_returns_ns": value, "reaped_ns": 50}, None)
        sides.append(side(builder, str(value)))
    row = rows(compare_runs(sides))["call_returns"]
    assert (row.change.value, row.change.low, row.verdict) == (None, None, "unknown")
    assert row.reason == "there is no ratio to a median of zero or below"
    Draft202012Validator(SCHEMA).validate(to_json(compare_runs(sides)))


def test_runs_without_a_common_cell_are_refused(make_builder: Build) -> None:
    before = one_cell(make_builder, 1.0, 1, "a")
    builder = make_builder(2)
    builder.cell("launch.pthread", times(1.0))
    with pytest.raises(InputError, match="no cell in common") as caught:
        compare_runs([before, side(builder, "b")])
    assert caught.value.hint is not None
    assert "launch.pthread" in caught.value.hint


def test_runs_that_differ_by_settings_are_pointed_to_the_commands_that_compare_these(make_builder: Build) -> None:
    sides = []
    for seed, condition in enumerate(({"parent_bytes": 1 << 20, "vmas": 5}, {"pages": "clean", "vmas": 5})):
        builder = make_builder(seed)
        builder.cell("launch.fork", times(1.0), **condition)
        sides.append(side(builder, f"{seed}.parquet"))
    with pytest.raises(InputError, match="no cell in common") as caught:
        compare_runs(sides)
    hint = caught.value.hint
    assert hint is not None
    in_turn, _, together = hint.partition("; or within one run: ")
    assert in_turn.endswith(
        ": clonometer ab launch.fork --a pages=rewritten --a parent_bytes=1MiB --b pages=clean --b parent_bytes=0 "
        "--set vmas=5"
    )
    assert together == (
        "clonometer run launch.fork --set pages=rewritten,clean --set parent_bytes=1MiB,0 --set vmas=5 "
        "--out both.parquet && clonometer compare both.parquet --cells "
        "'launch.fork[parent_bytes=1048576,temperature=warm,vmas=5]' 'launch.fork[pages=clean,temperature=warm,vmas=5]'"
    )


def test_what_is_open_names_the_command_that_decides_it_in_pairs(make_builder: Build, several: RunEstimates) -> None:
    wide = [one_cell(make_builder, factor, seed, spread=0.3, vmas=5) for seed, factor in ((1, 1.0), (2, 1.3))]
    row = open_row(rows(compare_runs(wide, variance=UNKNOWN_VARIANCE)).values())
    assert row is not None
    assert command_of_pairs(wide[0], row) == [
        *("clonometer", "ab", "launch.fork", "--set", "vmas=5", "--set", "temperature=warm"),
        *("--b", "do=DO", "--b", "undo=UNDO"),
    ]
    still = [one_cell(make_builder, 1.0, seed, spread=0.001) for seed in range(2)]
    assert open_row(rows(compare_runs(still)).values()) is None
    commands = {
        other: command_of_pairs(several, next(iter(rows(compare_cells(several, base, other)).values())))
        for base, other in (
            ("launch.fork[temp*warm]", "launch.pthread[temp*warm]"),
            ("launch.fork[temp*warm]", "launch.fork[*dynamic_lazy*"),
            ("launch.pthread[temp*warm]", "launch.fork[parent*warm]"),
        )
    }
    warm = ["--set", "temperature=warm"]
    assert list(commands.values()) == [
        ["clonometer", "ab", "launch.fork", "launch.pthread", *warm],
        ["clonometer", "ab", "launch.fork", "--a", "linkage=static", "--b", "linkage=dynamic_lazy", *warm],
        None,
    ]


def test_a_cell_under_another_condition_is_refused_and_said(make_builder: Build) -> None:
    """The same text may mean another condition where a catalogue has changed its defaults."""
    builders = [make_builder(seed) for seed in (1, 2)]
    for builder in builders:
        builder.cell("launch.fork", times(1.0))
        builder.cell("launch.pthread", times(1.0))
    builders[1].run.metadata["plan"]["cells"][0]["condition"]["pages"] = "first"
    compared = compare_runs([side(builder, name) for builder, name in zip(builders, "ab", strict=True)])
    assert {row.other.workload for row in compared.pairs[0].rows} == {"launch.pthread"}
    [left_out] = compared.pairs[0].left_out
    assert left_out.reason == "different condition: pages=rewritten against first"


def test_cells_in_only_one_run_are_said(make_builder: Build) -> None:
    builders = [make_builder(seed) for seed in (1, 2)]
    for builder, extra in zip(builders, ("launch.vfork", "launch.pthread"), strict=True):
        builder.cell("launch.fork", times(1.0))
        builder.cell(extra, times(1.0))
    compared = compare_runs([side(builder, name) for builder, name in zip(builders, "ab", strict=True)])
    assert [(omitted.cell.split("[")[0], omitted.reason) for omitted in compared.pairs[0].left_out] == [
        ("launch.vfork", "only in a"),
        ("launch.pthread", "only in b"),
    ]


def test_placements_are_compared_with_their_own_kind(make_builder: Build) -> None:
    sides = [one_cell(make_builder, 1.0, seed, other_cpu=0.5, placement="free") for seed in (1, 2)]
    placements = {(row.base.placement, row.other.placement) for row in compare_runs(sides).pairs[0].rows}
    assert placements == {("same_cpu", "same_cpu"), ("other_cpu", "other_cpu")}


def test_a_stage_that_ends_elsewhere_in_the_other_run_is_left_out_and_said(make_builder: Build) -> None:
    sides = []
    for seed, name in ((1, "old"), (2, "new")):
        builder = make_builder(seed)
        builder.cell("launch.posix_spawn", {"image_entered_ns": 60_000, "image_runs_ns": 80_000, "reaped_ns": 90_000})
        if name == "old":
            del builder.run.metadata["catalogue"]["quantities"]["image_runs_ns"]["point"]
        sides.append(side(builder, name))
    (pair,) = compare_runs(sides).pairs
    # That the entry is a detail of it would make one test more.
    assert {row.base.quantity for row in pair.rows} == {"reaped_ns"}
    assert [omitted.reason for omitted in pair.left_out] == [
        "image_runs_ns ends at the point of earlier versions in old, at main in new"
    ]
    (pair,) = compare_runs([sides[1], sides[1]]).pairs
    assert {row.base.quantity for row in pair.rows} == {"image_runs_ns", "reaped_ns"}
    assert pair.left_out == ()


@pytest.fixture
def several(make_builder: Build) -> RunEstimates:
    builder = make_builder(5)
    for temperature in ("cold", "warm"):
        builder.cell("launch.fork", times(3.0), temperature)
        builder.cell("launch.fork", times(6.0), temperature, parent_bytes=1 << 20)
        builder.cell("launch.pthread", times(1.0), temperature)
        builder.cell("launch.vfork", times(1.0), temperature)
        builder.cell("launch.fork_exec", {**times(9.0), "image_runs_ns": 80_000}, temperature)
    builder.cell("launch.fork", times(4.0), "warm", linkage="dynamic_lazy")
    return side(builder, "run")


def test_groups_of_cells_are_paired_by_what_they_have_in_common(several: RunEstimates) -> None:
    compared = compare_cells(several, "launch.fork[temp*", "launch.pthread*")
    assert {(row.base.temperature, row.other.temperature) for row in compared.pairs[0].rows} == {
        ("cold", "cold"),
        ("warm", "warm"),
    }
    assert {row.verdict for row in compared.pairs[0].rows} == {"less"}


def test_cells_without_a_partner_are_said(several: RunEstimates) -> None:
    compared = compare_cells(several, "launch.fork", "launch.pthread")
    assert len({row.base.cell for row in compared.pairs[0].rows}) == 2
    assert {omitted.cell for omitted in compared.pairs[0].left_out} == {
        "launch.fork[parent_bytes=1048576,temperature=cold]",
        "launch.fork[parent_bytes=1048576,temperature=warm]",
        "launch.fork[linkage=dynamic_lazy,temperature=warm]",
    }


def test_families_are_never_compared(several: RunEstimates) -> None:
    with pytest.raises(InputError, match="not the same task"):
        compare_cells(several, "launch.fork[temp*warm]", "launch.fork_exec[temp*warm]")


def test_a_call_that_contains_the_childs_life_is_left_out_between_workloads(several: RunEstimates) -> None:
    compared = compare_cells(several, "launch.fork[temp*warm]", "launch.vfork[temp*warm]")
    assert {row.other.stage for row in compared.pairs[0].rows} == {"task_runs", "reaped"}
    assert any("child's whole life" in omitted.reason for omitted in compared.pairs[0].left_out)


@pytest.mark.parametrize(
    ("base", "other", "message"),
    [
        ("launch.frok*", "launch.pthread*", "unknown cell"),
        ("launch.fork*warm]", "launch.fork", "both"),
        ("launch.pthread[temperature=warm]", "launch.fork[*,temperature=warm]", "several"),
    ],
)
def test_groups_that_cannot_be_paired_are_refused(several: RunEstimates, base: str, other: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare_cells(several, base, other)


def test_json_is_valid_and_has_every_row(make_builder: Build) -> None:
    sides = [one_cell(make_builder, factor, 1, str(factor)) for factor in (1.0, 1.2)]
    compared = compare_runs(sides)
    document = json.loads(json.dumps(to_json(compared), allow_nan=False))
    Draft202012Validator(SCHEMA).validate(document)
    assert [row["ratio"] for row in document["comparisons"][0]["rows"]] == [
        row.change.value for row in compared.pairs[0].rows
    ]
    assert document["counts"]["more"] == 3


OF_A_RUN = Provenance({}, "0.1", "complete", "tsc")


def test_hosts_differ_in_what_moves_launches_and_not_in_what_always_changes() -> None:
    host = {
        "kernel.release": "6.1",
        "mitigations": {"meltdown": "PTI", "mds": "Not affected"},
        "mitigations.summary": "KPTI",
        "load.running": 1,
        "memory.available_bytes": 5,
        "thp.enabled": "always",
    }
    other = {
        **host,
        "kernel.release": "6.18",
        "mitigations": {"meltdown": "Vulnerable", "mds": "Not affected"},
        "mitigations.summary": "no KPTI",
        "load.running": 3,
        "memory.available_bytes": 6,
        "libc.version": "2.41",
    }
    base = replace(OF_A_RUN, host=host, frequencies_mhz=[3000.0])
    listed = differences(base, replace(base, host=other, frequencies_mhz=[2900.0], clonometer_version="0.2"))
    assert [(difference.key, difference.base, difference.other) for difference in listed] == [
        ("kernel.release", "6.1", "6.18"),
        ("mitigations.summary", "KPTI", "no KPTI"),
        ("mitigations.meltdown", "PTI", "Vulnerable"),
        ("effective_mhz", 3000, 2900),
        ("libc.version", None, "2.41"),
        ("clonometer_version", "0.1", "0.2"),
    ]
    assert differences(base, base) == ()


def test_another_boot_is_a_difference_where_both_runs_know_theirs() -> None:
    boots = [replace(OF_A_RUN, host={"host.boot_id": name}) for name in ("a1", "b2")]
    assert differences(*boots) == (Difference("host.boot_id", "a1", "b2"),)
    # A run of an earlier version does not know its boot; that is no other boot.
    assert differences(boots[0], OF_A_RUN) == ()
    assert differences(replace(OF_A_RUN, host={"host.boot_id": None}), boots[0]) == ()


def test_options_of_drivers_are_a_difference_said_once() -> None:
    def run(spin_ns: int) -> Provenance:
        options: dict[str, int | str] = {"child_spin_ns": spin_ns} if spin_ns else {}
        targets = [PlanTarget("launch.fork", [cell], {"warmup": 20}, options) for cell in ("a", "b")]
        return replace(OF_A_RUN, targets=targets)

    [difference] = differences(run(0), run(900))
    assert (difference.key, difference.base, difference.other) == ("option.child_spin_ns", None, 900)


def with_axis(estimates: RunEstimates, builder: Any, default: str = "no") -> RunEstimates:
    """The same run as a later version would have made it: with one axis more, at its default in every cell."""
    metadata = builder.run.metadata
    axis = {"type": "choice", "values": ["no", "yes"], "default": default, "summary": ""}
    metadata["catalogue"] = {**metadata["catalogue"], "axes": {**metadata["catalogue"]["axes"], "later": axis}}
    for cell in metadata["plan"]["cells"]:
        cell["condition"]["later"] = "no"
    return read_side(builder.run, estimates.name)


@pytest.mark.parametrize("older_first", [True, False])
def test_a_run_from_before_an_axis_existed_is_compared_as_at_its_default(
    make_builder: Build, older_first: bool
) -> None:
    builders = [make_builder(seed) for seed in (1, 2)]
    for builder in builders:
        builder.cell("launch.fork", times(1.0))
    old, new = (side(builder, name) for builder, name in zip(builders, ("old", "new"), strict=True))
    new = with_axis(new, builders[1])
    compared = compare_runs([old, new] if older_first else [new, old])
    assert len(compared.pairs[0].rows) == 3
    assert compared.pairs[0].left_out == ()


def test_an_axis_that_is_off_its_default_in_one_run_only_is_another_condition(make_builder: Build) -> None:
    builders = [make_builder(seed) for seed in (1, 2)]
    for builder in builders:
        builder.cell("launch.fork", times(1.0))
        builder.cell("launch.pthread", times(1.0))
    old = side(builders[0], "old")
    new = with_axis(side(builders[1], "new"), builders[1])
    builders[1].run.metadata["plan"]["cells"][0]["condition"]["later"] = "yes"
    new = read_side(builders[1].run, "new")
    compared = compare_runs([old, new])
    assert {row.other.workload for row in compared.pairs[0].rows} == {"launch.pthread"}
    assert [omitted.reason for omitted in compared.pairs[0].left_out] == ["different condition: later=no against yes"]


def wakes(make_builder: Build, seed: int, footprint: float, name: str) -> RunEstimates:
    builder = make_builder(seed)
    builder.cell("queue.wait", {"wait_us": 5.0, "queue_bytes": footprint}, None)
    return side(builder, name)


@pytest.mark.parametrize(("after", "verdict"), [(12_000, "more"), (6_000, "less"), (8_192, "equal")])
def test_what_is_no_time_is_compared_in_its_own_words(make_builder: Build, after: float, verdict: str) -> None:
    sides = [wakes(make_builder, seed, value, str(value)) for seed, value in ((1, 8_192), (1, after))]
    compared = compare_runs(sides)
    rows_by_quantity = {row.other.quantity: row for row in compared.pairs[0].rows}
    assert set(rows_by_quantity) == {"wait_us", "queue_bytes"}
    assert rows_by_quantity["queue_bytes"].verdict == verdict
    assert rows_by_quantity["queue_bytes"].change.value == pytest.approx(after / 8_192, rel=0.02)
    document = to_json(compared)
    Draft202012Validator(SCHEMA).validate(document)
    [row] = [row for row in document["comparisons"][0]["rows"] if row["quantity"] == "queue_bytes"]
    assert (row["unit"], row["base"]["median_ns"]) == ("bytes", None)
    assert row["base"]["value"] == pytest.approx(8_192, rel=0.05)


def test_a_count_of_what_never_happened_is_the_same(make_builder: Build) -> None:
    compared = compare_runs([wakes(make_builder, seed, 0, str(seed)) for seed in (1, 2)])
    [row] = [row for row in compared.pairs[0].rows if row.other.quantity == "queue_bytes"]
    assert (row.change.value, row.verdict, row.reason) == (None, "equal", None)
    grown = compare_runs([wakes(make_builder, seed, value, str(seed)) for seed, value in ((1, 0), (2, 4096))])
    [row] = [row for row in grown.pairs[0].rows if row.other.quantity == "queue_bytes"]
    assert (row.verdict, row.reason) == ("unknown", "there is no ratio to a median of zero or below")
