"""Charts and tables of fits and ablations: what they show, and that the renderer takes them."""

from __future__ import annotations

from dataclasses import replace

import altair
import pytest
import vl_convert
from tests.views.sample_kinds import ABLATION, FITS, SCANS

from clonometer.views.documents.run import run_document
from clonometer.views.fitted import ablation_panel, fitted_charts
from clonometer.views.gaps import ablation_table, fit_tables, rung_labels
from clonometer.views.html.document import render_document_page
from clonometer.views.pictures import picture, picture_spec
from clonometer.views.scans import scan_panel
from clonometer.views.specs import LIGHT, theme
from clonometer.views.terminal import render_answer
from clonometer.views.terminal.table import draw_table


@pytest.fixture
def with_workers(results):
    return replace(results, scans=[*results.scans, *SCANS], series={"fits": FITS, "ablations": (ABLATION,)})


def test_lines_are_named_by_the_kind_of_task():
    (title, whole), (title_beyond, fitted) = fitted_charts(SCANS, FITS)
    assert tuple(whole.drawn) == tuple(fitted.drawn) == ("threads", "processes")
    assert title == "Whole time by workers, 3,000 numbers"
    assert title_beyond == "Whole time by workers, beyond the CPUs, 3,000 numbers"
    assert whole.equations == ()
    assert fitted.equations[1] == "processes: 1.0 (0.9 to 1.1) ms x + 1 (-4 to 6) µs; R2 0.987 (0.975 to 0.992)"
    assert {point["label"] for point in fitted.curves} == {"threads", "processes"}
    assert not whole.curves
    assert whole.points[0]["tip"] == "threads, 1 worker: 1.2 (1.1 to 1.3) ms"


def test_a_panel_of_one_point_is_left_out():
    [(title, whole)] = fitted_charts([line.at([0, 1]) for line in SCANS], FITS)
    assert (title, whole.curves) == ("Whole time by workers, 3,000 numbers", [])


@pytest.mark.parametrize("place", [0, 1])
def test_the_renderer_draws_points_and_curves(place):
    spec = scan_panel(fitted_charts(SCANS, FITS)[place][1])
    assert (sum(layer["mark"].get("strokeDash") == [5, 3] for layer in spec["layer"])) == place
    svg = vl_convert.vegalite_to_svg({**spec, "config": theme(*LIGHT)})
    assert "threads" in svg


def test_an_ablation_goes_down_in_the_order_of_taking_away():
    assert rung_labels(ABLATION) == ["everything shared", "a file each", "padded counters"]
    spec = ablation_panel(ABLATION)
    assert spec["layer"][1]["encoding"]["y"]["sort"] == rung_labels(ABLATION)
    assert "a file each" in vl_convert.vegalite_to_svg({**spec, "config": theme(*LIGHT)})


def test_the_table_says_gap_step_share_and_what_is_unexplained():
    table = ablation_table(ABLATION)
    assert table.head == ("taken away", "threads", "processes", "gap, ms", "gap, %", "step, ms", "share")
    assert table.rows[0] == ("everything shared", "30.0 ms", "20.0 ms", "10 (9 to 11)", "+50", "", "")
    assert table.rows[1][3:] == ("4 (3 to 5)", "+20", "6 (5 to 7)", "60% (50% to 70%)")
    assert table.note == "Unexplained: -1 (-2 to 0) ms, -10% (-20% to 0%) of the gap."


def test_no_gap_has_no_shares_and_that_is_said():
    rungs = [replace(rung, share=None) for rung in ABLATION.rungs]
    table = ablation_table(replace(ABLATION, rungs=rungs, remainder_share=None))
    assert "there is no gap to explain" in table.note
    assert "Unexplained" not in table.note
    assert {row[-1] for row in table.rows} == {""}


def test_fits_stand_from_the_highest_power_down():
    (table,) = fit_tables(FITS)
    assert table.head == ("term of the fit", "threads", "processes")
    assert [row[0] for row in table.rows] == ["each worker", "constant", "R2"]
    assert table.rows[0][2] == "1.0 (0.9 to 1.1) ms"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_tables_fit_the_terminal(width):
    for table in (ablation_table(ABLATION), *fit_tables(FITS)):
        lines = draw_table(table, width, colour=False)
        assert max(map(len, lines)) <= width
        assert any("gap" in line or "R2" in line for line in lines)


def test_every_view_has_them(with_workers):
    wide = render_answer(with_workers, width=120, wide=True)
    assert "Unexplained: -1 (-2" in wide
    assert "each worker" in wide
    page = render_document_page(run_document(with_workers))
    for words in ("What the gap is made of", "Workers, and curves through them", "Unexplained: -1 (-2", "fit-1"):
        assert words in page
    for kind in ("fit", "ablation"):
        assert picture(with_workers, kind, "svg").startswith("<svg")


def test_runs_without_workers_have_neither(results):
    assert "What the gap is made of" not in render_document_page(run_document(results))
    for kind in ("fit", "ablation"):
        with pytest.raises(Exception, match="nothing to draw"):
            picture_spec(results, kind)


def test_charts_obey_the_schema_of_vega_lite():
    specs = [scan_panel(panel) for _, panel in fitted_charts(SCANS, FITS)] + [ablation_panel(ABLATION)]
    for spec in specs:
        altair.Chart.from_dict({**spec, "config": theme(*LIGHT)}, validate=True)
