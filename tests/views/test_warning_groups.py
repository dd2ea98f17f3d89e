from __future__ import annotations

from dataclasses import replace

from clonometer.results.types import RunWarning
from clonometer.views.terminal import render_answer
from clonometer.views.warning_groups import warning_groups


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
