from __future__ import annotations

from dataclasses import replace

import pytest
from tests.views.test_specs import validate

from clonometer.results.series.types import ScanSeries
from clonometer.views.figures.scanned import scan_charts
from clonometer.views.pictures import picture, picture_spec
from clonometer.views.specs import LIGHT, theme


def series(workload: str, quantity: str = "op_ns", **condition: int | str) -> ScanSeries:
    return ScanSeries(
        workload=workload,
        family="contend",
        axis="workers",
        axis_kind="count",
        stage=None,
        quantity=quantity,
        temperature=None,
        placement=None,
        condition=condition,
        x=(1, 2, 8),
        medians=(10.0, 20.0, 90.0),
        lows=(9.0, 19.0, 80.0),
        highs=(11.0, 21.0, 99.0),
    )


@pytest.fixture
def contended(results):
    drawn = [
        series(workload, quantity, **condition)
        for workload, condition in (
            ("contend.mmap", {}),
            ("contend.mmap", {"vma_kind": "touched"}),
            ("contend.open", {}),
        )
        for kind in ({}, {"task_kind": "process"})
        for quantity in ("op_ns", "cpu_op_ns")
        for condition in [{**condition, **kind}]
    ]
    return replace(results, scans=drawn)


def test_each_operation_is_a_panel_with_a_line_for_threads_and_one_for_processes(contended):
    [chart] = scan_charts(contended.scans, "contention")
    assert list(chart.panels) == ["contend.mmap", "contend.mmap, touched VMAs", "contend.open"]
    for panel in chart.panels.values():
        assert panel.labels == ("threads", "processes")
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
