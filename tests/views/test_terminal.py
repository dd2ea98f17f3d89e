from __future__ import annotations

import re
from dataclasses import replace

import pytest

from clonometer.results.types import CellStatus, Finding, RunWarning
from clonometer.views.terminal import render_answer

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def lines_of(results, **options):
    text = render_answer(results, **options)
    assert text.endswith("\n")
    return text.splitlines()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_default_plan_fits_a_terminal(results, width):
    lines = lines_of(results, width=width)
    assert len(lines) <= 25
    assert max(map(len, lines)) <= width
    assert not ANSI.search("".join(lines))


def test_there_is_one_row_a_mechanism_and_stage_in_two_families(results):
    lines = lines_of(results)
    heads = [place for place, line in enumerate(lines) if "µs until" in line]
    assert [lines[place].split(",")[0] for place in heads] == ["Same image", "New program"]
    stages = [re.search(r"(call returns|task runs|program runs|reaped)\*? +[\d,.]+ +\S+ – \S+", line) for line in lines]
    assert sum(map(bool, stages)) == 16
    same = "\n".join(lines[heads[0] : heads[1]])
    assert "posix_spawn" not in same
    assert "fork+exec" not in same


def test_every_row_has_warm_and_cold_medians_with_intervals(results):
    lines = lines_of(results)
    row = next(line for line in lines if line.startswith("fork  "))
    assert re.fullmatch(r"fork +call returns +51\.4 +50\.9 – 51\.9 +146 +137 – 156", row)


def test_one_process_has_a_dash_for_its_interval(results):
    lone = replace(results.cells[0], median_low_ns=None, median_high_ns=None)
    for wide in (False, True):
        text = render_answer(replace(results, cells=[lone]), wide=wide)
        row = next(line for line in text.splitlines() if line.startswith("fork  "))
        assert re.search(r"call returns +(warm +)?51\.4 +-(\s|$)", row)
    reason = "-: one process only; a longer --budget adds more"
    assert reason in render_answer(replace(results, cells=[lone], findings=[]), width=50)
    assert reason not in render_answer(results)


def test_first_findings_are_told_and_the_rest_counted(results):
    text = render_answer(results)
    joined = " ".join(text.split())
    assert results.findings[0].sentence in joined
    shown = sum(finding.sentence in joined for finding in results.findings)
    assert f"{len(results.findings) - shown} findings" in text
    assert "3 warnings" in text


def test_a_row_that_is_not_ranked_is_marked_and_explained(results):
    text = render_answer(results)
    assert "call returns*" in text
    assert "* includes the child's life" in text
    assert "call returns*" not in render_answer(
        replace(results, cells=[cell for cell in results.cells if cell.rankable])
    )


def test_a_waking_call_that_is_not_ranked_has_its_own_reason(results):
    waking = [replace(cell, family="wake") for cell in results.cells if cell.workload == "launch.vfork"]
    text = render_answer(replace(results, cells=waking))
    assert "call returns*" in text
    assert "* may include the worker's answer" in text
    assert "child's life" not in text


@pytest.mark.parametrize("limit", [12, 18, 25, 40])
def test_the_answer_keeps_to_its_lines(results, limit):
    assert len(lines_of(results, lines=limit)) <= limit


def test_rows_that_do_not_fit_are_counted(results):
    text = render_answer(results, lines=15)
    shown = len(re.findall(r"\d – ", text)) // 2
    hidden = re.search(r"--wide adds (\d+) rows", text)
    everything = 81
    assert hidden is not None
    assert shown + int(hidden.group(1)) == everything


def test_where_there_is_no_room_what_could_not_be_told_goes_first(results):
    first, *others = results.findings
    unsure = [replace(finding, numbers={**finding.numbers, "verdict": "same"}) for finding in others[:2]]
    text = " ".join(render_answer(replace(results, findings=[first, *unsure, *others[2:]]), lines=28).split())
    assert first.sentence in text
    assert others[2].sentence in text
    assert not [finding for finding in unsure if finding.sentence in text]


@pytest.mark.parametrize("width", [80, 120, 160])
def test_wide_has_every_estimate_every_finding_and_every_next_step(results, width):
    text = render_answer(results, wide=True, width=width)
    assert max(map(len, text.splitlines())) <= width
    joined = " ".join(text.split())
    rows = re.findall(r"(?:call returns|task runs|program runs|reaped)\*? +(?:warm|cold) +[\d,.]+", text)
    assert len(rows) == sum(cell.stage is not None for cell in results.cells)
    assert all(finding.sentence in joined for finding in results.findings)
    assert all(warning.next_step in joined for warning in results.warnings)
    assert "bare loop" in text
    assert "--seed 7" in text


def test_wide_names_the_columns_it_had_no_room_for(results):
    assert "left out at 80 columns" in render_answer(results, wide=True, width=80)
    wide = render_answer(results, wide=True, width=160)
    assert "left out" not in wide
    assert re.search(r"p99 +min +MAD +samples +processes +MHz", wide)


def test_colour_changes_no_character(results):
    plain, coloured = render_answer(results), render_answer(results, colour=True)
    assert ANSI.search(coloured)
    assert ANSI.sub("", coloured) == plain


@pytest.mark.parametrize("wide", [False, True])
def test_ascii_only_is_ascii_and_keeps_the_columns(results, wide):
    text = render_answer(results, ascii_only=True, wide=wide)
    assert text.isascii()
    assert "?" not in text
    assert len(text) == len(render_answer(results, wide=wide))


def test_floor_only(results):
    only = replace(results, cells=[cell for cell in results.cells if cell.family == "floor"], findings=())
    text = render_answer(only)
    assert re.search(r"^clock reading +cost, ns +9\.8 ", text, re.MULTILINE)
    assert "cold" not in text
    assert re.search(r"clock reading +cost, ns +9\.8 +9\.7 – 9\.9", text)


def test_rows_of_a_memory_scan_name_the_axis(results):
    forks = [cell for cell in results.cells if cell.workload == "launch.fork"]
    scan = replace(results, cells=[fork for fork in forks if "parent_bytes=" in fork.cell])
    text = render_answer(scan)
    assert all(size in text for size in ("fork, 2 MiB", "fork, 64 MiB", "fork, 1 GiB"))
    assert "clean pages" in text


def test_observed_placement_is_told_apart(results):
    free = replace(results, cells=[cell for cell in results.cells if "placement=free" in cell.cell][:12])
    text = render_answer(free)
    assert "same CPU" in text
    assert "other CPU" in text
    assert "pinned" not in text.splitlines()[2]


def test_one_workload_alone(results):
    only = [cell for cell in results.cells if cell.cell == "launch.pthread[temperature=warm]"]
    lines = lines_of(replace(results, cells=only, findings=(), warnings=()))
    assert sum("pthread" in line for line in lines) == 1
    assert not any("cold" in line for line in lines)


def test_a_failed_run_says_so_with_its_reasons(results):
    failed = replace(
        results,
        status="failed",
        status_reason="the driver was not found",
        cells=[],
        findings=(),
        warnings=(),
        cell_statuses=[CellStatus("launch.fork", "failed", "exit status 127")],
    )
    text = render_answer(failed)
    assert "This run failed: the driver was not found" in text
    assert "Nothing was measured." in text
    assert "! failed: exit status 127 (launch.fork)" in text
    assert "Nothing was measured." in render_answer(failed, wide=True)


def test_skipped_cells_are_told_even_beside_a_full_table(results):
    reason = "needs 1.3 GiB, 0.8 GiB are available"
    names = [f"launch.fork[parent_bytes=1GiB,temperature={warmth}]" for warmth in ("warm", "cold")]
    partial = replace(
        results,
        status="partial",
        status_reason="interrupted after 23 s",
        cell_statuses=[CellStatus(name, "skipped", reason) for name in names],
    )
    lines = lines_of(partial)
    assert len(lines) <= 25
    assert "This run is partial: interrupted after 23 s" in lines
    assert any(line.startswith("! 2 cells skipped: needs 1.3 GiB") for line in lines)


def test_many_reasons_are_cut_short_and_counted(results):
    statuses = [CellStatus(f"launch.x{place}", "failed", f"reason {place}") for place in range(9)]
    text = render_answer(replace(results, cell_statuses=statuses))
    assert "! 9 cells without a result in all" in text
    assert len(text.splitlines()) <= 25
    assert "reason 8" in render_answer(replace(results, cell_statuses=statuses), wide=True)


def test_text_from_elsewhere_cannot_steer_the_terminal(results):
    evil = Finding("x", "\x1b[2J\x07 cleared\nnext", {})
    text = render_answer(replace(results, findings=(evil,), warnings=(RunWarning("w", "\x1b]0;t", "s"),)), wide=True)
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_narrow_terminal_drops_the_cold_interval_before_the_cold_median(results):
    lines = lines_of(results, width=64)
    row = next(line for line in lines if line.startswith("fork  "))
    assert re.fullmatch(r"fork +call returns +51\.4 +50\.9 – 51\.9 +146", row)
    assert max(map(len, lines_of(results, width=40))) <= 40


def test_what_has_no_temperature_stands_in_the_first_column(results):
    clock = replace(next(cell for cell in results.cells if cell.workload == "clock.used"), family="clock")
    text = render_answer(replace(results, cells=[*results.cells[:6], clock]), lines=30)
    assert re.search(r"^Clocks +median +95% interval$", text, re.MULTILINE)
    assert re.search(r"^clock reading +cost, ns +9\.8 +9\.7 – 9\.9$", text, re.MULTILINE)
    assert re.search(r"^Same image, pinned; µs until +warm +95% interval +cold +95% interval$", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80
