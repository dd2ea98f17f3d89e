"""The table of languages: a line a language, C first, and only where nothing else was measured."""

from __future__ import annotations

from dataclasses import replace

from tests.results.runs import languages
from tests.views.sample_kinds import LANGUAGES

from clonometer.results.summary import summarize
from clonometer.views.figures.languages import FIGURES, languages_tables
from clonometer.views.terminal.first_screen import first_screen


def test_a_line_a_language_and_a_column_a_thing() -> None:
    results = replace(summarize(languages()), series={"languages": LANGUAGES})
    later, first = languages_tables(results)
    assert later.head == ("", "thread", "command, 64 MiB")
    assert later.columns[0].texts == ["C", "Java 25.0", "Python"]
    assert later.columns[2].texts == ["-", "-", "500 µs"]
    assert first.columns[0].texts == ["Python"]


def test_the_table_stands_for_the_rows_where_the_run_has_nothing_else() -> None:
    results = summarize(languages())
    [figure] = FIGURES
    workloads = {"launch.pthread", "wake.thread_futex", "python.os_thread", "java_25_0.command"}
    assert len(figure.sums_up(results, workloads)) == 1
    assert figure.sums_up(results, {*workloads, "launch.fork_exec"}) == []
    screen = "\n".join(first_screen(results, 100, 40, colour=False))
    assert "Node.js" in screen
    assert "Java 25.0" in screen
