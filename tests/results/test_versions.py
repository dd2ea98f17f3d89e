"""How further versions of a language differ from the first: only where that is sure, in short on the first screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import PTHREAD

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results
from clonometer.views.figures.languages import FIGURES
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.first_screen import first_screen
from clonometer.views.terminal.table import draw_table

VERSIONS = {"python": "3.11.7", "python_3_13": "3.13.0"}
#: What a thread, a command, and a command from a heap take with the newer version, in ns.
THREAD, COMMAND, LOADED = 60_000, 440_000, 2_100_000


def results_of(thread: int = THREAD, command: int = COMMAND, loaded: int = LOADED) -> Results:
    """The first version takes 60 us, 500 us and 700 us."""
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    for name, times in {"python": (60_000, 500_000, 700_000), "python_3_13": (thread, command, loaded)}.items():
        builder.cell(f"{name}.os_thread", {"call_returns_ns": 20_000, "reaped_ns": times[0]})
        builder.cell(f"{name}.command", {"call_returns_ns": 200_000, "reaped_ns": times[1]})
        builder.cell(f"{name}.command", {"call_returns_ns": 200_000, "reaped_ns": times[2]}, parent_bytes=64 << 20)
    for name in ("go", "node", "ruby", "rust", "perl"):
        builder.cell(f"{name}.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 90_000})
    drivers = [{"name": name, "toolchain": {"version": version}} for name, version in VERSIONS.items()]
    builder.run.metadata["catalogue"]["drivers"] = drivers
    return summarize(builder.run)


def only(results: Results) -> Finding:
    [finding] = [each for each in results.findings if each.id.startswith("versions.")]
    return finding


@pytest.fixture(scope="module")
def results() -> Results:
    return results_of()


def test_a_version_is_held_against_the_first_in_each_thing(results: Results) -> None:
    finding = only(results)
    assert finding.id == "versions.python_3_13"
    ratios = {thing: change["ratio"] for thing, change in finding.numbers["changes"].items()}
    assert list(ratios) == ["thread", "command", "command (64 MiB)"]
    assert ratios["command"] == pytest.approx(0.88, rel=0.05)
    assert ratios["command (64 MiB)"] == pytest.approx(3, rel=0.05)
    assert finding.sentence.startswith("Python 3.13 beside 3.11: command (64 MiB) takes 3.0")
    assert finding.sentence.endswith("A difference is open in 1 other.")


def test_in_short_the_largest_differences_are_said_by_their_intervals(results: Results) -> None:
    headline = only(results).headline
    assert "command (64 MiB) 3.0" in headline
    assert "% less" in headline
    assert "thread" not in headline


def test_the_first_screen_names_the_versions_that_have_no_row(results: Results) -> None:
    [table] = FIGURES[0].sums_up(results, {"python.os_thread", "python_3_13.os_thread", "node.os_thread"})
    assert "Python 3.13" not in table.columns[0].texts
    assert table.note.startswith("Python 3.13 beside 3.11: command (64 MiB)")
    screen = first_screen(results, 80, 24, colour=False)
    assert [line for line in screen if line.startswith("Python 3.13 beside 3.11:")]


def test_versions_that_do_not_differ_are_named_in_a_sentence() -> None:
    results = results_of(command=500_000, loaded=700_000)
    assert not only(results).states_difference
    [table] = FIGURES[0].sums_up(results, {"python.os_thread", "python_3_13.os_thread", "node.os_thread"})
    assert table.note.startswith("Python 3.13 beside 3.11: a difference is open.")


def test_a_narrow_screen_has_no_row_without_a_figure() -> None:
    columns = [
        Column("", ("C", "Python 3.13")),
        Column("thread", ("1 us", MISSING)),
        Column("few", ("-", "2 us"), drop=1),
    ]
    table = Table(columns, sparse=True)
    assert len(draw_table(table, 80, colour=False)) == 3
    assert [line.split()[0] for line in draw_table(table, 20, colour=False)] == ["thread", "C"]
    assert len(draw_table(replace(table, sparse=False), 20, colour=False)) == 3
