from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.model.synthetic import calibration, model

from clonometer.model.calibration import Residual
from clonometer.views.calibration_picture import calibration_spec
from clonometer.views.documents.calibration import calibration_document
from clonometer.views.terminal.document import render_document

render_calibration = partial(render_document, calibration_document)


def test_a_calibration_is_a_row_a_term_and_says_where_it_misses() -> None:
    made = calibration(lacks={"cell": "no huge pages are free"})
    residuals = (Residual("launch.fork[vmas=9]", 100.0, 125.0), Residual("launch.fork", 100.0, 100.0))
    models = {**made.models, "fork.first": replace(model(misfit=0.12), residuals=residuals)}
    models["vfork"] = replace(model(), flat=("small pages", "page tables"))
    text = render_calibration(replace(made, models=models), width=100, colour=False, ascii_only=True)
    rows = {line.split("  ")[0].strip(): line for line in text.splitlines()}
    assert "50.0 us" in rows["base"]
    assert "310 ns" in rows["areas kept from children"]
    assert "40.0 ns" in rows["small pages"]
    assert "80.0 ns" in rows["scattered, 100 MB touched"]
    assert "12%" in text
    assert "25% over launch.fork[vmas=9]" in text
    assert "Not measured: cell: no huge pages are free" in text
    assert "vfork: nothing is added for small pages, page tables" in text


def test_the_picture_has_a_panel_a_model_and_a_point_a_condition() -> None:
    made = calibration()
    fitted = replace(model(), residuals=(Residual("a", 100.0, 125.0), Residual("b", 0.0, 5.0)))
    spec = calibration_spec(replace(made, models={**made.models, "exec": fitted}))
    [row] = spec["vconcat"]
    assert [panel["title"].partition(":")[0] for panel in row["concat"]] == list(made.models)
    [_, points] = row["concat"][-1]["layer"]
    assert [(point["measured"], point["fitted"]) for point in points["data"]["values"]] == [(100.0, 125.0)]


def test_a_scattered_page_has_one_price_where_caches_are_cold_and_none_at_other_amounts_than_those_shown() -> None:
    made = calibration()
    linear = model().each_ns[:-2]
    cold = replace(model(), knots=(1e6,), each_ns=(*linear, 33.0), draws_ns=())
    others = replace(model(), knots=(1e6, 2e6, 3e6), each_ns=(*linear, 44.0, 45.0, 46.0), draws_ns=())
    models = {**made.models, "fork.first": cold, "fork.later_hot": others}
    models["vfork"] = replace(model(), flat=("small pages", "page tables"))
    text = render_calibration(replace(made, models=models), width=120, colour=False)
    rows = [line for line in text.splitlines() if line.startswith("scattered, ")]
    assert len(rows) == 2
    assert all("33.0 ns" in row and "44.0 ns" not in row and "45.0 ns" not in row for row in rows)
