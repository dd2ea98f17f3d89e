"""Which command decides a comparison that is open, and whether it can here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.memory_run import RunBuilder

from clonometer.app.ab import longest_s
from clonometer.app.deciding import in_pairs
from clonometer.results.compare.comparison import compare_runs
from clonometer.results.compare.sides import read_side
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.views.comparison import in_pairs_text


def sides(machine: str | None, **condition: Any) -> list[RunEstimates]:
    made = []
    for seed, factor in enumerate((1.0, 1.3)):
        builder = RunBuilder(seed)
        builder.cell("launch.posix_spawn", {"reaped_ns": 400_000 * factor}, spread=0.3, **condition)
        read = read_side(builder.run, f"{seed}.parquet")
        host = {**read.document.host, "host.name_hash": machine}
        made.append(RunEstimates(read.all_rows, replace(read.document, host=host), read.name))
    return made


@pytest.mark.parametrize(
    ("machine", "program", "is_offered"),
    [
        ("a1", "target_static", True),
        ("a1", "/bin/sh", True),
        ("a1", "/no/such/program", False),
        ("b2", "target_static", False),
        (None, "target_static", False),
    ],
)
def test_pairs_are_offered_where_both_sides_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
    machine: str | None,
    program: str,
    is_offered: bool,
) -> None:
    monkeypatch.setattr("clonometer.host.facts.collect", lambda: {"host.name_hash": machine and "a1"})
    both = sides(machine, program=program)
    [pair] = compare_runs(both).pairs
    offered = in_pairs(both[0], pair.rows)
    assert (offered is not None) == is_offered
    if offered is not None:
        assert offered.command.startswith("clonometer ab launch.posix_spawn ")
        assert 10 < offered.at_most_s <= 60
        text = in_pairs_text(offered)
        assert text.startswith("To decide it in pairs, in ")
        assert " s at most, where DO makes the difference and UNDO takes it back: clonometer ab " in text


def test_dearer_launches_take_longer_and_never_longer_than_the_budget() -> None:
    assert longest_s([20_000, 20_000]) < longest_s([400_000, 20_000]) < longest_s([1e9, 1e9]) == 60
