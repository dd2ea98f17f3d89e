"""What all rows changed by together is said beside each change, and never taken off."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clonometer.records import to_json
from clonometer.results.compare.comparison import compare_cells, compare_runs, read_side
from clonometer.results.compare.types import ComparedPair, ComparedRow
from clonometer.views.comparison import common_text, comparison_text, summary
from clonometer.views.comparison_picture import comparison_spec
from clonometer.views.terminal.comparison import render_comparison

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/compare.schema.json").read_text(encoding="utf-8"))
Build = Callable[..., Any]
LAUNCHES = ("launch.fork", "launch.vfork", "launch.pthread", "launch.fork_exec", "launch.posix_spawn")
ALL_SIX = dict.fromkeys([*LAUNCHES, "big"], 1.0)


def _run(make_builder: Build, seed: int, factors: Mapping[str, float], *temperatures: str, clock: float = 1.0) -> Any:
    builder = make_builder(seed)
    for name, factor in factors.items():
        for temperature in temperatures or ("warm",):
            options = {"parent_bytes": 1 << 26} if name == "big" else {}
            workload = "launch.fork" if name == "big" else name
            times = {"call_returns_ns": 50_000 * factor, "reaped_ns": 90_000 * factor}
            builder.cell(workload, times, temperature, spread=0.01, **options)
    builder.cell("clock.used", {"cost_ns": 40.0 * clock}, None)
    return builder


def _compared(make_builder: Build, factors: Mapping[str, float], *temperatures: str, clock: float = 1.0) -> Any:
    base = _run(make_builder, 1, dict.fromkeys(factors, 1.0), *temperatures)
    other = _run(make_builder, 2, factors, *temperatures, clock=clock)
    return compare_runs([read_side(base.run, "a"), read_side(other.run, "b")])


def _rows(pair: ComparedPair, cell: str) -> list[ComparedRow]:
    return [row for row in pair.rows if row.other.cell.startswith(cell)]


def test_what_all_changed_by_is_said_and_not_taken_off(make_builder: Build) -> None:
    compared = _compared(make_builder, dict.fromkeys(ALL_SIX, 1.2))
    [pair] = compared.pairs
    launches = [row for row in pair.rows if row.rest is not None]
    assert len(launches) == 12
    for row in launches:
        assert (row.verdict, row.like_rest) == ("slower", True)
        assert row.ratio == pytest.approx(1.2, rel=0.03)
        assert row.rest == pytest.approx(1.2, rel=0.02)
        assert comparison_text(row).verdict == "slower, like all"
    warm, control = pair.shifts
    assert (warm.of, warm.kinds, control.of, control.kinds) == ("warm", 6, "control", 1)
    assert warm.least < 1.2 < warm.most
    assert control.ratio == pytest.approx(1, rel=0.05)
    assert "warm rows took 1.20 times as long (6 kinds of process" in common_text(pair)
    assert "the machine, or what all share" in common_text(pair)
    assert "12 slower (12 like all)" in summary(compared)
    Draft202012Validator(SCHEMA).validate(to_json(compared))


@pytest.mark.parametrize(("machine", "program"), [(1.0, 1.2), (1.1, 1.5), (0.8, 1.0)])
def test_what_changed_more_than_the_rest_or_the_other_way_is_not_like_it(
    make_builder: Build, machine: float, program: float
) -> None:
    factors = {**dict.fromkeys(ALL_SIX, machine), "launch.pthread": program}
    [pair] = _compared(make_builder, factors).pairs
    assert not any(row.like_rest for row in _rows(pair, "launch.pthread"))
    others = [row for row in pair.rows if row.rest is not None and row.other.workload != "launch.pthread"]
    assert all(row.like_rest == (machine != 1.0) for row in others)


def test_cold_rows_are_held_against_cold_ones(make_builder: Build) -> None:
    base = _run(make_builder, 1, ALL_SIX, "cold", "warm")
    other = make_builder(2)
    for name in ALL_SIX:
        for temperature, factor in (("cold", 1.4), ("warm", 1.0)):
            options = {"parent_bytes": 1 << 26} if name == "big" else {}
            times = {"call_returns_ns": 50_000 * factor, "reaped_ns": 90_000 * factor}
            workload = "launch.fork" if name == "big" else name
            other.cell(workload, times, temperature, spread=0.01, **options)
    [pair] = compare_runs([read_side(base.run, "a"), read_side(other.run, "b")]).pairs
    assert [(shift.of, round(shift.ratio, 1)) for shift in pair.shifts] == [("cold", 1.4), ("warm", 1.0)]
    assert all(row.like_rest == (row.other.temperature == "cold") for row in pair.rows)


def test_few_kinds_of_process_tell_nothing_of_the_machine(make_builder: Build) -> None:
    factors = dict.fromkeys(LAUNCHES, 1.2)
    compared = _compared(make_builder, factors, clock=1.2)
    [pair] = compared.pairs
    assert [(shift.of, shift.kinds) for shift in pair.shifts] == [("control", 1)]
    assert all(row.rest is None and not row.like_rest for row in pair.rows)
    assert "Too few kinds of process" in common_text(pair)
    assert "clocks and empty loops 1.2" in common_text(pair)
    assert "like all" not in render_comparison(compared)


def test_two_groups_of_one_run_share_the_machine_and_nothing_is_said(make_builder: Build) -> None:
    builder = _run(make_builder, 1, {**ALL_SIX, "launch.pthread": 0.5})
    [pair] = compare_cells(read_side(builder.run, "a"), "launch.fork[temp*", "launch.pthread*").pairs
    assert pair.shifts == ()
    assert common_text(pair) == ""
    assert all(row.rest is None for row in pair.rows)


def test_tables_and_pictures_show_the_rest(make_builder: Build) -> None:
    compared = _compared(make_builder, dict.fromkeys(ALL_SIX, 1.2))
    for width in (60, 80, 120):
        text = render_comparison(compared, width=width)
        assert max(map(len, text.splitlines())) <= width
        assert width < 80 or "slower, like all" in text
    assert "the rest" in render_comparison(compared, width=120)
    text = json.dumps(comparison_spec(compared))
    assert "Grey tick" in text
    assert '"rest": 1.' in text
