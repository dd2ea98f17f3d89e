from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.fakes.memory_run import RunBuilder
from tests.model.synthetic import calibration, model
from tests.views.sample_kinds import SAMPLED, need_samples, panels_of
from tests.views.sample_results import with_switches

from clonometer.errors import InputError, UsageError
from clonometer.model.calibration import Residual
from clonometer.results.summary import summarize
from clonometer.results.types import Finding
from clonometer.views.calibration_picture import calibration_spec
from clonometer.views.distributions import distributions
from clonometer.views.document import SwitchedFigure
from clonometer.views.figures.scanned import scan_charts
from clonometer.views.labels import cpu_name
from clonometer.views.pictures import KINDS, leading_kind, picture, picture_spec
from clonometer.views.plots import ecdf_choice, ecdf_index, ecdf_points

# What each says besides the mechanisms' names, for pictures that are not of launches.
OF_TASKS = {
    "messages": {"latency", "bandwidth", "one CPU", "two CPUs", "pipe, processes", "64 KiB"},
    "ring": {"Switching between tasks: tasks in the ring", "handover", "switch", "switch.pipe, processes", "1,000"},
    "working_set": {"handover", "switch", "switch.pipe, processes", "64 MiB", "0", "//"},
}


def words_of(text):
    assert isinstance(text, str)
    return {node.text for node in ElementTree.fromstring(text).iter() if node.text}


def test_every_kind_of_ours_has_samples(everything):
    assert set(panels_of(everything)) >= SAMPLED


@pytest.mark.parametrize("kind", KINDS)
def test_svg_names_its_panels_and_where_it_was_made(everything, kind):
    need_samples(everything, kind)
    words = words_of(picture(everything, kind, "svg"))
    assert {panel.short or panel.title for panel in panels_of(everything)[kind]} <= words
    assert any(everything.started[:10] in word for word in words)


@pytest.mark.parametrize("kind", ["overview", "ecdf", "memory", "scan"])
def test_svg_of_launches_names_what_it_draws(results, kind):
    words = words_of(picture(results, kind, "svg"))
    assert {"fork", "pthread"} <= words
    assert any("until reaped" in word or word == "reaped" for word in words)


def test_a_stage_that_nobody_has_heard_of_has_a_distribution_in_the_order_of_time():
    stages = {"call_returns_ns": "call_returns", "warmed_ns": "warmed_up", "reaped_ns": "reaped"}
    builder = RunBuilder()
    builder.invent("runtime.start", stages, family="same_image")
    builder.cell("runtime.start", {"call_returns_ns": 1_000, "warmed_ns": 5_000, "reaped_ns": 9_000})
    results = summarize(builder.run)
    [row] = picture_spec(results, "ecdf")["vconcat"]
    assert [panel["title"] for panel in row["concat"]] == ["until call returns", "until warmed up", "until reaped"]
    [figure] = distributions(results, "")
    assert isinstance(figure, SwitchedFigure)
    [stage] = [switch for switch in figure.switches if switch.name == "stage"]
    assert [name for name, _ in stage.options] == ["call_returns", "warmed_up", "reaped"]
    assert stage.chosen == "reaped"


def test_a_story_has_a_panel_for_each_condition_and_a_line_for_each_phase(results):
    words = {node.text for node in ElementTree.fromstring(str(picture(results, "story"))).iter() if node.text}
    assert {"default condition", "the other process gone", "memory of the parent (log)", "//", "0"} <= words
    assert {"the call", "longest pause of another thread, during the call", "4 GiB"} <= words


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
    bare = replace(results, scans=[])
    with pytest.raises(InputError, match="numeric axis") as caught:
        picture(bare, "scan")
    assert caught.value.hint == f"it has: {', '.join(sorted(panels_of(bare)))}"
    assert {"ecdf", "footprint", "overview"} <= set(panels_of(bare)) <= set(panels_of(results)) - {"memory", "scan"}


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
    series = {"label": "a", "of": "fork", "temperature": "warm", "time_ns": [0, 10, 20], "share": [0.2, 0.5, 1.0]}
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


def test_a_parent_without_memory_stands_behind_a_break_of_the_axis(results):
    series = replace(results.scans[0], x=[0, 4096], medians=[5.0, 6.0], lows=[4.0, 5.0], highs=[6.0, 7.0])
    [chart] = scan_charts([series], "memory")
    [panel] = chart.panels.values()
    assert [point["x"] for point in panel.points] == [0, 4096]
    assert panel.points[0]["x_at"] == panel.x.zero


@pytest.mark.parametrize("kind", ["overview", "ecdf", "memory", "scan"])
def test_every_picture_says_by_what_machine_and_run_it_was_made(results, kind):
    title = picture_spec(replace(results, run_name="/somewhere/else/mine.parquet"), kind)["title"]
    below = " ".join(title["subtitle"])
    for words in (cpu_name(results.host["cpu.model"]), results.host["kernel.release"], results.started[:10]):
        assert words in below
    assert "run mine.parquet, plan" in below
    assert "/somewhere" not in below


def test_a_title_is_the_answer_where_the_run_has_one_else_the_question(results):
    answer = Finding("memory.fork", "Each GiB written adds 17 ms to fork. And more.", {"verdict": "more"})
    unsure = Finding("memory.pthread", "Cannot tell a difference.", {"verdict": "unknown"})

    def title(*findings):
        return " ".join(picture_spec(replace(results, findings=findings), "memory")["title"]["text"])

    assert title(unsure, answer) == "Each GiB written adds 17 ms to fork. And more"
    assert title(unsure, replace(answer, sentence=f"Each GiB adds 17 ms. {'And more' * 30}.")) == "Each GiB adds 17 ms"
    assert title(unsure) == title() == "What does the parent's memory add to a launch?"


def test_the_leading_kind_is_a_scan_of_all_that_was_launched_else_the_medians(results):
    assert leading_kind(results) == "overview"
    fork = [row for row in results.cells if row.workload in ("launch.fork", "launch.pthread")]
    assert leading_kind(replace(results, cells=fork)) == "memory"
    assert leading_kind(replace(results, cells=[], ecdfs=[], scans=[])) == "footprint"
    assert leading_kind(replace(results, cells=[], ecdfs=[], scans=[], series={})) is None


def test_the_picture_of_a_calibration_has_a_panel_a_model_and_a_point_a_condition() -> None:
    made = calibration()
    fitted = replace(model(), residuals=(Residual("a", 100.0, 125.0), Residual("b", 0.0, 5.0)))
    spec = calibration_spec(replace(made, models={**made.models, "exec": fitted}))
    [row] = spec["vconcat"]
    assert [panel["title"].partition(":")[0] for panel in row["concat"]] == list(made.models)
    [_, points] = row["concat"][-1]["layer"]
    assert [(point["measured"], point["fitted"]) for point in points["data"]["values"]] == [(100.0, 125.0)]
