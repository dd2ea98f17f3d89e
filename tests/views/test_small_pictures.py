"""The picture of a history: levels, steps, and which of these are only suspected."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.model.synthetic import calibration, model

from clonometer.dataset.history_types import FEW_RUNS, HistoryRow, HistoryStep
from clonometer.dataset.types import Label
from clonometer.model.calibration import Residual
from clonometer.results.change import Change
from clonometer.verdicts import Direction
from clonometer.views.calibration_picture import calibration_spec
from clonometer.views.history import history_table
from clonometer.views.history_picture import _panel

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


def test_the_picture_has_a_panel_a_model_and_a_point_a_condition() -> None:
    made = calibration()
    fitted = replace(model(), residuals=(Residual("a", 100.0, 125.0), Residual("b", 0.0, 5.0)))
    spec = calibration_spec(replace(made, models={**made.models, "exec": fitted}))
    [row] = spec["vconcat"]
    assert [panel["title"].partition(":")[0] for panel in row["concat"]] == list(made.models)
    [_, points] = row["concat"][-1]["layer"]
    assert [(point["measured"], point["fitted"]) for point in points["data"]["values"]] == [(100.0, 125.0)]
