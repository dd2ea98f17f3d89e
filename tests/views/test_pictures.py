from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.views.sample_results import with_switches

from clonometer.errors import InputError, UsageError
from clonometer.views.figures.scanned import scan_charts
from clonometer.views.pictures import KINDS, picture
from clonometer.views.plots import ecdf_choice, ecdf_index, ecdf_points

# What each says besides the mechanisms' names, for pictures that are not of launches.
OF_TASKS = {
    "messages": {"Latency of messages, one CPU", "Bandwidth of messages, two CPUs", "pipe, processes", "64 KiB"},
    "ring": {"Switching between tasks, handover", "Switching between tasks, switch", "switch.pipe, processes", "1,000"},
    "working_set": {"Switching between tasks, handover", "switch.pipe, processes", "64 MiB", "0 B"},
}


def words_of(text):
    assert isinstance(text, str)
    return {node.text for node in ElementTree.fromstring(text).iter() if node.text}


@pytest.mark.parametrize(
    "kind",
    sorted(set(KINDS) - set(OF_TASKS) - {"ablation", "contention", "fit", "footprint", "gaps", "isolation", "story"}),
)
def test_svg_names_what_it_draws(results, kind):
    words = words_of(picture(results, kind, "svg"))
    assert {"fork", "pthread"} <= words
    assert any("until reaped" in word or word == "reaped" for word in words)


def test_a_story_has_a_panel_for_each_condition_and_a_line_for_each_phase(results):
    words = {node.text for node in ElementTree.fromstring(str(picture(results, "story"))).iter() if node.text}
    assert {"cow.stall, as usual", "cow.stall, other process gone", "memory of the parent (log, from 0)"} <= words
    assert {"fork call", "call stall", "aftermath pass", "4 GiB"} <= words


def test_footprints_are_bars_of_their_parts_in_sizes(results):
    words = {node.text for node in ElementTree.fromstring(str(picture(results, "footprint"))).iter() if node.text}
    assert {"process", "thread", "kernel stack", "own pages", "memory of each task"} <= words
    assert any(word.endswith(" KiB") for word in words)


@pytest.mark.parametrize("kind", OF_TASKS)
def test_svg_of_switches_and_messages_names_what_it_draws(results, kind):
    words = words_of(picture(with_switches(results), kind, "svg"))
    assert OF_TASKS[kind] <= words
    # What is only there to be subtracted has no panel, nor has another picture's axis.
    assert not any("alone" in word or "fork" in word for word in words)


def test_png_is_a_png_of_some_size(results):
    data = picture(results, "overview", "png")
    assert isinstance(data, bytes)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(data[16:20], "big") > 800


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_with_nothing_to_draw_says_so(results, kind):
    with pytest.raises(InputError, match="nothing to draw"):
        picture(replace(results, cells=[], ecdfs=[], scans=[], series={}), kind)


def test_a_run_without_scans_says_what_it_has(results):
    with pytest.raises(InputError, match="numeric axis") as caught:
        picture(replace(results, scans=[]), "scan")
    assert caught.value.hint == "it has: ecdf, footprint, overview"


def test_unknown_kind_and_format_name_what_exists(results):
    with pytest.raises(UsageError, match="did you mean 'memory'"):
        picture(results, "memmory")
    with pytest.raises(UsageError, match="picture format"):
        picture(results, "ecdf", "gif")


def test_distributions_are_thinned_and_keep_their_ends(results):
    whole, thin = ecdf_index(results, results.ecdfs), ecdf_index(results, results.ecdfs, 24)
    assert all(len(distribution["time_ns"]) <= 24 for distribution in thin)
    assert [
        (distribution["time_ns"][0], distribution["time_ns"][-1], distribution["share"][-1]) for distribution in thin
    ] == [
        (distribution["time_ns"][0], distribution["time_ns"][-1], distribution["share"][-1]) for distribution in whole
    ]


def test_a_distribution_rises_from_the_axis_and_skips_zero():
    series = {"label": "a", "temperature": "warm", "time_ns": [0, 10, 20], "share": [0.2, 0.5, 1.0]}
    assert [(ecdf_point["time_ns"], ecdf_point["share"]) for ecdf_point in ecdf_points([series])] == [
        (10, 0),
        (10, 0.5),
        (20, 1.0),
    ]


def test_plain_and_pinned_distributions_are_shown_first(results):
    chosen = ecdf_choice(ecdf_index(results, results.ecdfs, 24))
    assert {distribution["label"] for distribution in chosen} == {
        "fork",
        "vfork",
        "pthread",
        "posix_spawn",
        "fork+exec",
    }
    assert {distribution["placement"] for distribution in chosen} == {"pinned"}


def test_a_parent_without_memory_has_no_place_on_a_log_axis(results):
    series = replace(results.scans[0], x=[0, 4096], medians=[5.0, 6.0], lows=[4.0, 5.0], highs=[6.0, 7.0])
    [chart] = scan_charts([series], "memory")
    assert [point["x"] for panel in chart.panels.values() for point in panel.points] == [4096]
