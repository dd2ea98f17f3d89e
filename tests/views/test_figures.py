"""What the figures of scans, fits, ablations, contention, gaps and failures draw and say."""

from __future__ import annotations

import re
from dataclasses import replace

import altair
import pytest
import vl_convert
from tests.views.blocks import drawn_panels
from tests.views.sample_kinds import ABLATION, FITS, SCANS, contended_scans
from tests.views.sample_tails import LADDER_STEPS, ladder, with_tails
from tests.views.test_pictures import words_of
from tests.views.test_specs import validate

from clonometer.results.series_types import IsolationRow
from clonometer.views.documents.run import run_document
from clonometer.views.figures.gaps import ladder_charts, ladder_tables
from clonometer.views.figures.isolation import said_fate
from clonometer.views.figures.launches import memory_words
from clonometer.views.figures.scanned import scan_charts
from clonometer.views.fitted import ablation_panel, fitted_charts
from clonometer.views.gaps import ablation_table, fit_tables, rung_labels
from clonometer.views.html.document import render_document_page
from clonometer.views.multiples import joined
from clonometer.views.pictures import picture, picture_spec
from clonometer.views.scans import scan_panel
from clonometer.views.specs import LIGHT, theme
from clonometer.views.terminal import render_answer
from clonometer.views.terminal.table import draw_table


def panel(series):
    return next(iter(scan_charts(series, "scan")[0].panels.values()))


def vmas(results):
    return [scan for scan in results.scans if scan.axis == "vmas"]


def test_each_axis_and_family_is_a_chart_of_its_own(results):
    charts = scan_charts(results.scans, "scan")
    assert [chart.title for chart in charts] == [
        "Same image: VMAs",
        "Same image: number of the launch",
        "Memory: copy",
    ]
    assert [list(chart.panels) for chart in charts] == [["until reaped"], ["until reaped"], ["copy"]]


def test_lines_are_named_by_what_differs(results):
    assert tuple(panel(vmas(results)).drawn) == ("fork", "fork, touched VMAs", "pthread")
    series = [replace(scan, condition={**scan.condition, "linkage": "musl"}) for scan in vmas(results)]
    assert tuple(panel(series).drawn) == ("fork", "fork, touched VMAs", "pthread")
    both = [replace(series[0], temperature=warmth) for warmth in ("warm", "cold")]
    assert tuple(panel(both).drawn) == ("fork, warm", "fork, cold")
    placed = [replace(series[0], placement=placement) for placement in ("same_cpu", "other_cpu")]
    assert tuple(panel(placed).drawn) == ("fork, same CPU", "fork, other CPU")


def test_a_point_says_itself(results):
    points = panel(vmas(results)).points
    assert points[1]["tip"].startswith("fork, 100 VMAs: 73 (71 to 76) µs")
    copied = panel([scan for scan in results.scans if scan.axis == "copy_bytes"]).points
    assert copied[0]["tip"].startswith("memcpy.private, 64 KiB: 6.6 (6.4 to 6.8) µs")


def spec_of(results, **changes):
    ends = {"medians": [5e3, 6e3, 7e3], "lows": [4e3, 5e3, 6e3], "highs": [6e3, 7e3, 8e3]}
    return scan_panel(panel([replace(vmas(results)[0], **ends | changes)]))


@pytest.mark.parametrize(
    ("values", "title"),
    [([1, 2, 20], "VMAs"), ([0, 1, 20], "VMAs"), ([1, 50, 1000], "VMAs (log)"), ([0, 100, 60_000], "VMAs (log)")],
)
def test_an_axis_that_spans_far_is_logarithmic_says_so_and_has_a_place_for_zero(results, values, title):
    spec = spec_of(results, x=values)
    x = spec["layer"][0]["encoding"]["x"]
    assert (x["scale"]["type"] == "log", x["axis"]["title"]) == ("(log)" in title, title)
    places = [point["x_at"] for point in spec["data"]["values"]]
    assert len(places) == 3
    assert all(x["scale"]["domain"][0] < place < x["scale"]["domain"][1] for place in places)
    broken = values[0] == 0 and "(log)" in title
    assert [point["joined"] for point in spec["data"]["values"]] == [not broken, True, True]
    assert ("//" in str(spec["layer"])) == broken


def test_times_that_hardly_differ_are_drawn_from_zero_and_every_interval_is_inside(results):
    def y(lows, highs):
        spec = spec_of(results, x=[1, 2, 3], lows=lows, medians=[60e3, 70e3, 80e3], highs=highs)
        return spec["layer"][0]["encoding"]["y"]["scale"]

    near = y([50e3, 65e3, 70e3], [70e3, 80e3, 90e3])
    assert (near["type"], near["domain"][0]) == ("linear", 0)
    assert 90e3 < near["domain"][1] < 100e3
    far = y([0, 6e3, 70e3], [900e3, 80e3, 90e3])
    assert far["type"] == "log"
    assert far["domain"][1] > 900e3


def test_intervals_of_two_lines_stand_beside_each_other_and_are_bars(results):
    spec = scan_panel(panel(vmas(results)))
    first, second = (
        [point["x_at"] for point in spec["data"]["values"] if point["label"] == label] for label in ("fork", "pthread")
    )
    assert all(left != right for left, right in zip(first, second, strict=True))
    assert {layer["mark"]["type"] for layer in spec["layer"]} <= {"line", "rule", "point", "text"}


def test_more_than_five_lines_are_small_multiples(results):
    lines = [replace(vmas(results)[0], workload=f"launch.kind{number}") for number in range(12)]
    charts = scan_charts(lines, "scan")
    assert [chart.title.removeprefix("Same image: VMAs, ") for chart in charts] == ["1 of 3", "2 of 3", "3 of 3"]
    assert {len(each.drawn) for chart in charts for each in chart.panels.values()} == {4}


def test_kinds_of_memory_name_their_lines(results):
    fork, pthread = results.scans[0], results.scans[3]
    assert list(map(joined, memory_words([fork, pthread]))) == ["fork", "pthread"]
    conditions = ({}, {"page_kind": "thp"}, {"page_kind": "dontfork"}, {"pages": "clean"})
    lines = [replace(fork, condition={**fork.condition, **other}) for other in conditions]
    assert list(map(joined, memory_words(lines))) == [
        "fork, 4 KiB pages",
        "fork, THP",
        "fork, DONTFORK",
        "fork, 4 KiB pages, clean pages",
    ]


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


@pytest.fixture
def contended(results):
    return replace(results, scans=contended_scans())


def test_each_operation_is_a_panel_with_a_line_for_threads_and_one_for_processes(contended):
    [chart] = scan_charts(contended.scans, "contention")
    assert list(chart.panels) == ["contend.mmap", "contend.mmap, touched VMAs", "contend.open"]
    for panel in chart.panels.values():
        assert tuple(panel.drawn) == ("threads", "processes")
        assert [point["label"] for point in panel.points] == ["threads"] * 3 + ["processes"] * 3
        assert [point["x"] for point in panel.points] == [1, 2, 8] * 2


def test_the_picture_has_all_panels_and_one_legend(contended):
    spec = picture_spec(contended, "contention")
    panels = [panel for row in spec["vconcat"] for panel in row["concat"]]
    assert [panel["title"] for panel in panels] == ["contend.mmap", "contend.mmap, touched VMAs", "contend.open"]
    validate({**spec, "config": theme(*LIGHT)})
    text = picture(contended, "contention", "svg")
    assert "threads" in text
    assert "8 workers" in str(panels[0]["data"])


@pytest.fixture
def tailed(results):
    return with_tails(results)


def test_a_chart_has_a_panel_for_each_distribution_and_a_line_for_each_size(tailed):
    usual, gone = ladder_charts(tailed.series["ladders"])
    assert tuple(usual.drawn) == ("1 GiB", "0 B")
    assert list(usual.panels) == ["before the fork", "during the call"]
    assert [point["longer"] for point in usual.panels["during the call"][:3]] == [1 / 2, 1 / 1000, 1 / 5000]
    assert gone.title.endswith("the other process gone")


def test_the_table_has_a_row_for_each_and_a_dash_for_what_is_not_known(tailed):
    usual, gone = ladder_tables(tailed.series["ladders"])
    assert usual.head == ("", "p50", "p99.9", "longest", "values")
    assert [row[0] for row in usual.rows] == [
        "0 B, before the fork", "0 B, during the call", "1 GiB, before the fork", "1 GiB, during the call",
    ]  # fmt: skip
    assert gone.head == ("", "p50", "values")
    mixed = ladder_tables([ladder("x", 0), ladder("y", 0, LADDER_STEPS[:1])])[0]
    assert mixed.rows[1][2:4] == ("-", "-")


def test_the_terminal_prints_the_table(tailed):
    text = render_answer(tailed, wide=True)
    assert "cow.stall: gaps between writes" in text
    assert "1 GiB, during the call" in text


def test_pictures_name_what_they_draw(tailed):
    words = words_of(picture(tailed, "gaps"))
    assert {"Gaps between writes (cow.stall)", "during the call", "1 GiB", "1 in 1,000"} <= words
    words = words_of(picture(tailed, "isolation"))
    assert {"segfaults, as a thread", "all lost with their parent", "3 of 3 survive, unseen"} <= words


def test_the_report_has_both(tailed):
    text = render_document_page(run_document(tailed))
    # A chart is drawn into the first element of its name.
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {panel.id for panel in drawn_panels(run_document(tailed))} <= set(ids)
    assert "A worker fails" in text
    assert "Gaps between writes" in text or "gaps between writes" in text
    assert "p99.9" in text


def test_damage_that_nobody_sees_is_said():
    row = IsolationRow("overrun_neighbour", "thread", 3, 3, 1, True, 0, {})
    assert said_fate(row) == "1 of 3 damaged, unseen"
    assert said_fate(replace(row, damaged=0, survivors=0)) == "all lost, unseen"
