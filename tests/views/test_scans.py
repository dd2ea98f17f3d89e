from __future__ import annotations

from dataclasses import replace

import pytest

from clonometer.views.figures.launches import memory_words
from clonometer.views.figures.scanned import scan_charts
from clonometer.views.multiples import joined
from clonometer.views.scans import scan_panel


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
