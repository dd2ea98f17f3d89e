from __future__ import annotations

from dataclasses import replace

import pytest

from clonometer.views.against import scan_panel
from clonometer.views.figures.launches import memory_labels
from clonometer.views.figures.scanned import scan_charts


def chart(results, axis):
    return next(scan_chart for scan_chart in scan_charts(results.scans, "scan") if scan_chart.axis == axis)


def test_each_axis_and_family_is_a_chart_of_its_own(results):
    charts = scan_charts(results.scans, "scan")
    assert [(chart.axis, chart.family) for chart in charts] == [
        ("vmas", "same_image"),
        ("launch_number", "same_image"),
        ("copy_bytes", "memory"),
    ]
    assert [list(chart.panels) for chart in charts] == [["until reaped"], ["until reaped"], ["copy"]]


def test_lines_are_named_by_what_differs(results):
    assert chart(results, "vmas").labels == ("fork", "fork, touched VMAs", "pthread")
    series = [
        replace(scan, condition={**scan.condition, "linkage": "musl"}) for scan in results.scans if scan.axis == "vmas"
    ]
    assert scan_charts(series, "scan")[0].labels == ("fork", "fork, touched VMAs", "pthread")
    both = [replace(series[0], temperature=warmth) for warmth in ("warm", "cold")]
    assert scan_charts(both, "scan")[0].labels == ("fork, warm", "fork, cold")
    placed = [replace(series[0], placement=placement) for placement in ("same_cpu", "other_cpu")]
    assert scan_charts(placed, "scan")[0].labels == ("fork, same CPU", "fork, other CPU")


def test_a_point_says_itself(results):
    points = chart(results, "vmas").panels["until reaped"].points
    assert points[1]["tip"].startswith("fork, 100 VMAs: 73 (71 to 76) µs")
    copied = chart(results, "copy_bytes").panels["copy"].points
    assert copied[0]["tip"].startswith("memcpy.private, 64 KiB: 6.6 (6.4 to 6.8) µs")


@pytest.mark.parametrize(
    ("values", "scale", "note"),
    [
        ([1, 2, 20], "linear", ""),
        ([0, 1, 20], "linear", ""),
        ([1, 1000], "log", " (log)"),
        ([0, 100, 60_000], "symlog", " (log, from 0)"),
    ],
)
def test_an_axis_that_spans_far_is_logarithmic_and_says_so(values, scale, note):
    data = [{"x": x, "median": 5.0, "low": 4.0, "high": 6.0, "label": "a", "tip": ""} for x in values]
    x = scan_panel(data, labels=["a"], axis_title="VMAs", domain=[3.0, 8.0])["layer"][0]["encoding"]["x"]
    assert (x["scale"]["type"], x["axis"]["title"]) == (scale, f"VMAs{note}")
    assert x["axis"]["values"] == values


def test_times_that_hardly_differ_are_drawn_from_zero(results):
    def y(domain):
        panel = scan_panel([], labels=["a"], axis_title="VMAs", domain=domain)
        return panel["layer"][0]["encoding"]["y"]["scale"]

    assert y([50e3, 90e3]) == {"domain": [0, 90e3], "nice": True}
    assert y([50e3, 900e3])["type"] == "log"


def test_more_lines_than_colours_are_told_apart_by_dashes():
    labels = [f"line {number}" for number in range(13)]
    line = scan_panel([], labels=labels, axis_title="x")["layer"][2]["encoding"]
    look = set(zip(line["color"]["scale"]["range"], map(tuple, line["strokeDash"]["scale"]["range"]), strict=True))
    assert len(look) == 13


def test_kinds_of_memory_name_their_lines(results):
    fork, pthread = results.scans[0], results.scans[3]
    assert memory_labels([fork, pthread]) == ["fork", "pthread"]
    conditions = ({}, {"page_kind": "thp"}, {"page_kind": "dontfork"}, {"pages": "clean"})
    assert memory_labels([replace(fork, condition={**fork.condition, **other}) for other in conditions]) == [
        "fork, 4 KiB pages",
        "fork, THP",
        "fork, DONTFORK",
        "fork, 4 KiB pages, clean pages",
    ]
