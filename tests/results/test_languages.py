"""What languages take beside C: who is compared with what, what is said of it, and why."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import PTHREAD, languages

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results
from clonometer.views.figures.languages import FIGURES
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.first_screen import first_screen
from clonometer.views.terminal.table import draw_table


@pytest.fixture(scope="module")
def results() -> Results:
    return summarize(languages())


@pytest.fixture(scope="module")
def findings(results: Results) -> dict[str, Finding]:
    return {finding.id: finding for finding in results.findings}


def test_each_language_is_held_against_c(findings: dict[str, Finding]) -> None:
    numbers = findings["languages.os_thread"].numbers
    assert numbers["base"] == "launch.pthread"
    ratios = {name: change["ratio"] for name, change in numbers["languages"].items()}
    assert list(ratios) == ["node", "python"]
    assert ratios["node"] == pytest.approx(100, rel=0.1)
    assert ratios["python"] == pytest.approx(2, rel=0.1)
    pool = findings["languages.thread_pool"].numbers
    assert pool["base"] == "wake.thread_futex"
    assert pool["languages"]["python"]["ratio"] == pytest.approx(3, rel=0.1)


def test_the_book_says_why(findings: dict[str, Finding]) -> None:
    finding = findings["languages.command"]
    reasons = finding.numbers["reasons"]
    assert set(reasons) == {"node", "java_25_0"}
    assert "copies" in reasons["node"]
    assert "jspawnhelper" in reasons["java_25_0"]
    assert "A difference between Python and C is open" in finding.sentence
    # And where it was seen: the stages of both have it.
    assert "Node.js" in finding.sentence
    assert finding.numbers["explain"] == ["explain", "java_25_0.command", "--vs", "launch.posix_spawn"]
    assert finding.sentence.endswith("clonometer explain java_25_0.command --vs launch.posix_spawn.")
    assert "explain" not in (finding.headline or "")


def test_the_book_says_why_a_thread_takes_long() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    for name in ("node", "perl", "python"):
        builder.cell(f"{name}.os_thread", {"call_returns_ns": 900_000, "reaped_ns": 1_000_000})
    [finding] = [each for each in summarize(builder.run).findings if each.id == "languages.os_thread"]
    reasons = finding.numbers["reasons"]
    assert set(reasons) == {"node", "perl"}
    assert "copies the interpreter" in reasons["perl"]


def test_what_c_has_not_is_told_alone(findings: dict[str, Finding]) -> None:
    finding = findings["languages.task"]
    assert finding.numbers["medians_ns"]["python"] == pytest.approx(4_000, rel=0.1)
    assert "C takes" not in finding.sentence


def test_languages_are_not_ranked_among_each_other(results: Results) -> None:
    assert not [finding.id for finding in results.findings if finding.id.startswith("fastest.runtime")]
    assert not [finding.id for finding in results.first.advice if "runtime" in finding.id]
    assert [finding.id for finding in results.first.answer] == [
        "answer.languages.os_thread",
        "answer.languages.command",
    ]


def test_the_language_that_is_furthest_from_c_is_explained_next(results: Results) -> None:
    assert results.first.next is not None
    assert results.first.next.words == ("explain", "node.os_thread", "--vs", "pthread")


def test_rows_to_draw_have_first_and_later_launches(results: Results) -> None:
    rows = {(row.head, row.temperature): row.times_ns for row in results.series["languages"]}
    assert list(rows["thread", "warm"]) == ["C", "python", "node", "ruby"]
    assert list(rows["thread", "cold"]) == ["node", "ruby"]
    assert rows["thread", "cold"]["node"][0] == pytest.approx(9_000_000, rel=0.1)


def test_a_condition_is_compared_with_the_same_of_c_alone() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    builder.cell("python.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 60_000}, parent_bytes=1 << 20)
    results = summarize(builder.run)
    [row] = results.series["languages"]
    assert list(row.times_ns) == ["python"]


def test_who_uses_a_thread_again_is_held_against_waking_one(results: Results, findings: dict[str, Finding]) -> None:
    finding = findings["languages.os_thread"]
    assert finding.numbers["tasks_per_launch"] == {"python": 1, "node": None, "ruby": 0}
    assert "ruby" not in finding.numbers["languages"]
    # C makes a thread in as long, and wakes one in 4 us.
    assert finding.numbers["reused"]["ruby"]["ratio"] == pytest.approx(7.5, rel=0.1)
    assert "but uses a thread again that ended" in finding.sentence
    assert "Ruby and C" not in finding.sentence
    assert "Python creates" not in finding.sentence
    [row] = [row for row in results.series["languages"] if (row.head, row.temperature) == ("thread", "warm")]
    assert row.reused == ["ruby"]
    assert row.created == {"python": 1, "ruby": 0}


def test_a_light_task_creates_none(findings: dict[str, Finding]) -> None:
    assert "Python creates no task of the kernel for it" in findings["languages.task"].sentence


def test_reuse_is_not_claimed_where_first_launches_were_not_counted() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    builder.cell("ruby.os_thread", {"call_returns_ns": 10_000, "reaped_ns": 30_000}, facts={"tasks_created": 0})
    [finding] = [each for each in summarize(builder.run).findings if each.id == "languages.os_thread"]
    assert re.search(r"Ruby takes [\d.]+ µs, but creates no task of the kernel\.", finding.sentence)
    assert finding.numbers["languages"] == finding.numbers["reused"] == {}


def test_the_screen_says_why_languages_take_longer(results: Results) -> None:
    whys = [finding.sentence for finding in results.first.reasons]
    assert any("Java 25.0" in why and "jspawnhelper" in why for why in whys)


def test_where_most_of_the_extra_time_passes_is_said_where_the_book_has_no_reason() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", {"call_returns_ns": 5_000, "task_runs_ns": 10_000, "reaped_ns": 20_000})
    stages = {"call_returns_ns": 50_000, "task_runs_ns": 100_000, "reaped_ns": 110_000}
    builder.cell("rust.os_thread", stages)
    [finding] = [each for each in summarize(builder.run).findings if each.id == "languages.os_thread"]
    assert finding.numbers["longer_parts"] == {"rust": "most of the extra time passes before the new task runs"}


@pytest.mark.parametrize(
    ("switches", "is_stated"),
    [
        ({"voluntary_switches": 0, "involuntary_switches": 0}, True),
        ({"voluntary_switches": 60, "involuntary_switches": 0}, False),
        # Whom it woke pushed it aside at once, as a process in a pool does.
        ({"voluntary_switches": 0, "involuntary_switches": 60}, False),
    ],
)
def test_a_pool_that_wakes_no_thread_is_not_taken_for_a_quick_one(switches: dict[str, int], is_stated: bool) -> None:
    builder = RunBuilder()
    builder.cell("wake.thread_futex", {"answered_ns": 4_000})
    facts = {**switches, "tasks_created": 0}
    builder.cell("python.thread_pool", {"call_returns_ns": 100, "result_ns": 400}, facts=facts)
    [finding] = [each for each in summarize(builder.run).findings if each.id == "languages.thread_pool"]
    assert ("Python does that within a thread, and no thread is woken" in finding.sentence) is is_stated


def test_readings_of_drivers_are_drawn_beside_those_of_c_and_no_finding_is_about_them() -> None:
    builder = RunBuilder()
    builder.cell("launch.none", {"call_returns_ns": 20, "reaped_ns": 40}, None)
    builder.cell("python.none", {"call_returns_ns": 60, "reaped_ns": 130})
    builder.cell("python.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 60_000})
    results = summarize(builder.run)
    thread, readings = results.series["languages"]
    assert (thread.is_instrument, readings.is_instrument) == (False, True)
    assert list(readings.times_ns) == ["C", "python"]
    assert not [finding.id for finding in results.findings if finding.id.startswith("languages.none")]


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


def only(two_versions: Results) -> Finding:
    [finding] = [each for each in two_versions.findings if each.id.startswith("versions.")]
    return finding


@pytest.fixture(scope="module")
def two_versions() -> Results:
    return results_of()


def test_a_version_is_held_against_the_first_in_each_thing(two_versions: Results) -> None:
    finding = only(two_versions)
    assert finding.id == "versions.python_3_13"
    ratios = {thing: change["ratio"] for thing, change in finding.numbers["changes"].items()}
    assert list(ratios) == ["thread", "command", "command (64 MiB)"]
    assert ratios["command"] == pytest.approx(0.88, rel=0.05)
    assert ratios["command (64 MiB)"] == pytest.approx(3, rel=0.05)
    assert finding.sentence.startswith("Python 3.13 beside 3.11: command (64 MiB) takes 3.0")
    assert finding.sentence.endswith("A difference is open in 1 other.")


def test_in_short_the_largest_differences_are_said_by_their_intervals(two_versions: Results) -> None:
    headline = only(two_versions).headline
    assert "command (64 MiB) 3.0" in headline
    assert "% less" in headline
    assert "thread" not in headline


def test_the_first_screen_names_the_versions_that_have_no_row(two_versions: Results) -> None:
    [table] = FIGURES[0].sums_up(two_versions, {"python.os_thread", "python_3_13.os_thread", "node.os_thread"})
    assert "Python 3.13" not in table.columns[0].texts
    assert table.note.startswith("Python 3.13 beside 3.11: command (64 MiB)")
    screen = first_screen(two_versions, 80, 24, colour=False)
    assert [line for line in screen if line.startswith("Python 3.13 beside 3.11:")]


def test_versions_that_do_not_differ_are_named_in_a_sentence() -> None:
    two_versions = results_of(command=500_000, loaded=700_000)
    assert not only(two_versions).states_difference
    [table] = FIGURES[0].sums_up(two_versions, {"python.os_thread", "python_3_13.os_thread", "node.os_thread"})
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
