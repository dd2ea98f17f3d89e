from __future__ import annotations

import pytest

from clonometer.views.exports.markdown import pipe_table
from clonometer.views.html.table import page_rows
from clonometer.views.table import Column, Table, label_column
from clonometer.views.terminal.table import draw_stack, draw_table

LABELS = [("fork", "free", "64 MiB"), ("fork", "free", "64 MiB"), ("vfork",)]


def table() -> Table:
    return Table(
        [
            label_column(LABELS),
            Column("median, ms", ["1.25", "10", "-"], "point", drop=2),
            Column("95% interval", ["1 – 2", "10 – 11", "-"], "range", drop=1),
            Column("again", ["-", "", "-"], "point", optional=True),
            Column("n", ["1", "1,000", "20"], "right"),
        ]
    )


def test_a_terminal_aligns_each_column_and_says_a_label_once() -> None:
    assert draw_table(table(), 80, colour=False) == [
        "                    median, ms  95% interval      n",
        "fork, free, 64 MiB        1.25   1 – 2            1",
        "                         10     10 – 11       1,000",
        "vfork                     -     -                20",
    ]


@pytest.mark.parametrize(
    ("width", "first_lines"),
    [
        (40, ["                    median, ms      n", "fork, free, 64 MiB        1.25      1"]),
        (30, ["                        n", "fork, free, 64 MiB      1"]),
        (24, ["                    n", "fork                1", "  free, 64 MiB  1,000"]),
        (19, ["", "    n", "fork", "    1", "  free, 64 MiB", "    1,000"]),
    ],
    ids=["the first to go", "the second", "labels run down", "columns run on"],
)
def test_where_room_is_short_columns_go_and_nothing_is_cut(width: int, first_lines: list[str]) -> None:
    drawn = draw_table(table(), width, colour=False)
    assert max(map(len, drawn)) <= width
    assert drawn[: len(first_lines)] == first_lines


def test_what_was_left_out_is_named() -> None:
    assert draw_stack([table()], 30, colour=False).dropped == ("median, ms", "95% interval")


def test_tables_below_each_other_share_their_widths_under_titles_of_their_own() -> None:
    pair = [
        Table([Column("", ["fork"]), Column("ms", ["1"], "right")], "Same image; ms"),
        Table([Column("", ["fork+exec"]), Column("µs", ["1,000"], "right")], "New"),
    ]
    assert draw_stack(pair, 80, colour=False).tables == [
        ["Same image; ms     ms", "fork                1"],
        ["New                µs", "fork+exec       1,000"],
    ]


def test_a_path_is_cut_where_it_begins() -> None:
    cut = Table([Column("program", ["/usr/bin/redis-server"], most=14, cut_start=True)])
    assert draw_table(cut, 80, colour=False)[1] == "…/redis-server"


def test_texts_from_elsewhere_cannot_steer_the_terminal() -> None:
    assert draw_table(Table([Column("", ["a\x1b[2J\tb"])]), 80, colour=False)[1] == "a?[2J b"


def test_colour_is_put_around_texts_and_changes_none() -> None:
    styled = Table([Column("a", ["b", "c"]), Column("d", ["e", "f"], dim=True)], row_styles=["bad", None])
    assert draw_table(styled, 80, colour=True) == [
        "\x1b[1ma  d\x1b[0m",
        "\x1b[31mb  e\x1b[0m",
        "c  \x1b[2mf\x1b[0m",
    ]


def test_a_page_has_one_label_for_its_rows_and_aligns_points_invisibly() -> None:
    first, second, third = page_rows(table())
    assert [(cell.text, cell.span, cell.padding) for cell in first[:2]] == [
        ("fork, free, 64 MiB", 2, ""),
        ("1.25", 1, ""),
    ]
    assert [(cell.text, cell.padding, cell.kind) for cell in second[:2]] == [
        ("10", ".25", "number"),
        ("10 – 11", "", "interval"),
    ]
    assert third[0].names_row


def test_markdown_escapes_pipes_and_sets_figures_right() -> None:
    drawn = "".join(pipe_table(Table([Column("a|b", ["c\nd"]), Column("n", ["1"], "right")])))
    assert drawn == "| a\\|b | n |\n| --- | ---: |\n| c, d | 1 |\n"
