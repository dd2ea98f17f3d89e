"""What fleets and histories say and draw."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.dataset.made import write_fleet
from tests.dataset.test_fleet import kernels

from clonometer.dataset.compare import compare_fleet
from clonometer.dataset.history_types import FEW_RUNS, HistoryRow, HistoryStep
from clonometer.dataset.load import load
from clonometer.dataset.show import show_fleet
from clonometer.dataset.types import FleetShown, Label
from clonometer.results.change import Change
from clonometer.verdicts import Direction
from clonometer.views.documents.comparison import fleet_comparison_document
from clonometer.views.documents.fleet import fleet_document
from clonometer.views.fleet import hosts_text, odd_text
from clonometer.views.fleet_picture import host_charts
from clonometer.views.history import history_table
from clonometer.views.history_picture import _panel
from clonometer.views.markdown import render_markdown
from clonometer.views.terminal.document import render_document


def shown(folder: Path, hosts: int, odd: float = 1.0) -> FleetShown:
    return show_fleet(load(write_fleet(folder, hosts=hosts, runs=2, odd=odd)), "class", with_hosts=True)


@pytest.mark.parametrize(
    ("hosts", "odd", "begins"),
    [
        (9, 2.0, "00000008 is an outlier. Hosts differ most in fork, warm, reaped: by "),
        (9, 1.0, "No host is an outlier. Hosts differ most in "),
        (2, 1.0, "Outlier detection needs 8 hosts per group. Hosts differ most in "),
        (1, 1.0, "Outlier detection needs 8 hosts per group."),
    ],
)
def test_the_answer_names_odd_hosts_and_the_row_in_which_hosts_differ_most(
    tmp_path: Path, hosts: int, odd: float, begins: str
) -> None:
    text = hosts_text(shown(tmp_path, hosts, odd))
    assert text.startswith(begins)
    assert ("differ" in text) == (hosts > 1)


def test_a_host_that_is_odd_in_all_is_said_with_the_range_of_its_workloads(tmp_path: Path) -> None:
    [host] = shown(tmp_path, 9, 4.0).odd_hosts
    assert host.workload is None
    assert (host.least, host.most) == (pytest.approx(1, rel=0.2), pytest.approx(4, rel=0.2))
    text = odd_text(host, several_groups=False)
    assert f"its workloads take {host.least:.2f} to {host.most:.2f} times as long" in text
    assert f"(median {host.ratio:.2f}, " in text
    [fork] = shown(tmp_path / "one", 9, 2.0).odd_hosts
    assert (fork.workload, fork.least, fork.most) == ("launch.fork", None, None)
    assert f"fork takes {fork.ratio:.2f} times as long" in odd_text(fork, several_groups=False)


def test_every_host_is_a_point_of_each_row_beside_the_median_host(tmp_path: Path) -> None:
    fleet = shown(tmp_path, 8, 2.0)
    figure, _ = host_charts(fleet)
    points = figure.panels[0].draw()["data"]["values"]
    assert len(points) == len(fleet.hosts) == 8 * 6
    assert {point["odd"] for point in points} == {True, False}
    assert all("00000007" in point["tip"] for point in points if point["odd"])


def test_of_fewer_than_three_hosts_there_is_a_table_alone(tmp_path: Path) -> None:
    assert host_charts(shown(tmp_path, 2)) == []


def test_two_machines_are_sent_to_the_command_that_compares_them(tmp_path: Path) -> None:
    """Each is a group of one, so hosts cannot be the units; all rows were measured on both."""
    dataset = load(kernels(tmp_path, hosts=1, paired=False, fork=1.1))
    text = render_document(fleet_comparison_document, compare_fleet(dataset, "kernel"), width=80)
    assert "fewer than 3 hosts together" in text
    assert "No row was measured in both." not in text
    assert "'clonometer compare BEFORE AFTER'" in text
    alone = render_document(fleet_document, show_fleet(dataset, "kernel"), width=80)
    assert "'clonometer compare BEFORE AFTER'" in alone
    # One host has nothing between hosts, and one run nothing within the host.
    assert "between hosts" not in alone
    assert "95% interval" not in alone
    page = render_markdown(fleet_document(show_fleet(dataset, "kernel")))
    assert "hosts" in page
    assert "between hosts" not in page
    assert "clonometer compare" not in render_document(fleet_document, shown(tmp_path / "nine", 9), width=80)


LABEL = Label(
    "launch.fork", "launch.fork", {}, "warm", "reaped", None, "reaped_ns", "ns", "same_image", 1.0, is_time=True
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def row(unsure: str | None = None, days: float = 1.0, steps: bool = True) -> HistoryRow:
    started = [(START + days * timedelta(place)).isoformat() for place in range(20)]
    values = [1000.0] * 12 + [1200.0] * 8
    change = Change(base="w", other="x", value=1.2, low=1.1, high=1.3, direction=Direction.MORE)
    step = HistoryStep(started[12], "x", started[12], started[12], change, 7, 20.0, False, (), 12, unsure)
    return HistoryRow("host", LABEL, started, values, [step] if steps else [], 0.05)


def layers(drawn: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [layer for layer in drawn["layer"] if layer["mark"]["type"] == mark]


def test_each_level_is_a_line_from_its_first_run_to_its_last() -> None:
    made = row()
    [level, _] = layers(_panel(made), "rule")
    before, after = level["data"]["values"]
    assert (before["started"], before["until"]) == (made.started[0], made.started[11])
    assert (after["started"], after["until"]) == (made.started[12], made.started[19])
    assert after["value"] / before["value"] == pytest.approx(1.2)
    assert len(layers(_panel(row(steps=False)), "rule")) == 1


def test_a_suspected_step_looks_like_none_that_is_sure() -> None:
    (_, sure), (_, suspected) = (layers(_panel(row(unsure)), "rule") for unsure in (None, FEW_RUNS))
    assert sure["mark"]["strokeDash"] != suspected["mark"]["strokeDash"]
    colours = [rule["data"]["values"][0]["colour"] for rule in (sure, suspected)]
    assert colours[0] != colours[1]
    [text] = layers(_panel(row(FEW_RUNS)), "text")
    assert text["data"]["values"][0]["cause"] == "suspected"
    assert "suspected: 20% slower" in _panel(row(FEW_RUNS))["description"]
    assert "suspected" not in str(_panel(row()))


@pytest.mark.parametrize(("days", "shown"), [(0.05, "%H:%M"), (1.0, "%-d %b"), (30.0, "%b %Y")])
def test_ticks_say_what_tells_them_apart(days: float, shown: str) -> None:
    drawn = _panel(row(days=days))
    assert {layer["encoding"]["x"]["axis"]["format"] for layer in drawn["layer"]} == {shown}


def test_the_table_marks_what_is_only_suspected() -> None:
    sure, suspected = (history_table([row(unsure)]) for unsure in (None, FEW_RUNS))
    assert (sure.title or "").endswith("µs.")
    assert (suspected.title or "").endswith("A change with ? is only suspected.")
    changes = [
        next(column for column in table.columns if column.head == "last change").texts[0] for table in (sure, suspected)
    ]
    assert changes[1] == f"{changes[0]}?"
