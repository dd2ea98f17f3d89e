from __future__ import annotations

import re
from dataclasses import replace

import pytest

from clonometer.results.types import CellOutcome, Finding, RunWarning
from clonometer.views.terminal import render_answer
from clonometer.views.warning_groups import warning_groups

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def lines_of(results, **options):
    text = render_answer(results, **options)
    assert text.endswith("\n")
    return text.splitlines()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_default_plan_fits_a_terminal(results, width):
    lines = lines_of(results, width=width)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= width
    assert not ANSI.search("".join(lines))


@pytest.mark.parametrize("limit", [12, 18, 25, 40])
def test_the_answer_keeps_to_its_lines(results, limit):
    assert len(lines_of(results, lines=limit)) <= limit


@pytest.mark.parametrize("width", [80, 120, 160])
def test_wide_has_every_estimate_every_finding_and_every_next_step(results, width):
    text = render_answer(results, wide=True, width=width)
    assert max(len(line) for line in text.splitlines() if not re.search(r"\d  ", line)) <= width
    assert re.search(r"p99 +min +MAD +samples +processes +MHz", text)
    joined = " ".join(text.split())
    rows = re.findall(r"(?:call returns|task runs|program runs|reaped)\*? +(?:warm|cold) +[\d,.]+", text)
    assert len(rows) == sum(cell.stage is not None for cell in results.cells)
    assert all(finding.sentence in joined for finding in results.findings)
    assert all(warning.next_step in joined for warning in results.warnings)
    assert "bare loop" in text
    assert "--seed 7" in text


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
        cell_outcomes=[CellOutcome("launch.fork", "failed", "exit status 127")],
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
        cell_outcomes=[CellOutcome(name, "skipped", reason) for name in names],
    )
    lines = lines_of(partial)
    assert len(lines) <= 24
    assert "This run is partial: interrupted after 23 s" in lines
    assert any(line.startswith("! 2 cells skipped: needs 1.3 GiB") for line in lines)


def test_many_reasons_are_cut_short_and_counted(results):
    statuses = [CellOutcome(f"launch.x{place}", "failed", f"reason {place}") for place in range(9)]
    text = render_answer(replace(results, cell_outcomes=statuses))
    assert "! 9 cells without a result in total" in text
    assert len(text.splitlines()) <= 24
    assert "reason 8" in render_answer(replace(results, cell_outcomes=statuses), wide=True)


def test_text_from_elsewhere_cannot_steer_the_terminal(results):
    evil = Finding("x", "\x1b[2J\x07 cleared\nnext", {})
    text = render_answer(replace(results, findings=(evil,), warnings=(RunWarning("w", "\x1b]0;t", "s"),)), wide=True)
    assert "\x1b" not in text
    assert "\x07" not in text


def results_with(results, rows: int, run_says: str, alike: int = 0):
    cells = [
        replace(row, warnings=(RunWarning("wide", f"{row.cell} {number}: wide", "go on"),) if number < rows else ())
        for number, row in enumerate(results.cells)
    ]
    return replace(results, cells=cells, warnings=(RunWarning("wide", run_says, "go on", alike),))


def test_a_kind_is_one_entry_with_every_sentence_once(results):
    (only,) = warning_groups(results_with(results, 5, "the run itself"))
    assert only.sentences[0] == "the run itself"
    assert len(only.sentences) == 6
    assert list(only.cells) == list(dict.fromkeys(cell.cell for cell in results.cells[:5]))


def test_a_run_that_repeats_its_first_row_adds_nothing(results):
    first = f"{results.cells[0].cell} 0: wide"
    (only,) = warning_groups(results_with(results, 5, first, alike=4))
    assert len(only.sentences) == 5


def test_a_run_that_stands_for_rows_nobody_shows_says_how_many(results):
    (only,) = warning_groups(results_with(results, 0, "one row: wide", alike=4))
    assert only.sentences == ("one row: wide (and 4 more like it)",)


def test_a_terminal_shows_a_few_of_a_kind_and_counts_the_rest(results):
    text = render_answer(results_with(results, 5, "the run itself"), wide=True, width=100)
    assert text.count("the run itself") == 1
    assert "! 6 warnings" in text
    assert "and 3 more, all in show --json" in text
    assert text.count("Next: go on") == 1
