from __future__ import annotations

from dataclasses import replace

import pytest
from tests.views.sample_kinds import contended_scans
from tests.views.test_specs import validate

from clonometer.views.figures.scanned import scan_charts
from clonometer.views.pictures import picture, picture_spec
from clonometer.views.specs import LIGHT, theme


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
