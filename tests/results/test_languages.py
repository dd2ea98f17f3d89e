"""What languages take beside C: who is compared with what, what is said of it, and why."""

from __future__ import annotations

import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import PTHREAD, languages

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results


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
    assert "cannot tell a difference between Python and C" in finding.sentence.replace("Cannot", "cannot")


def test_what_c_has_not_is_told_alone(findings: dict[str, Finding]) -> None:
    finding = findings["languages.task"]
    assert finding.numbers["medians_ns"]["python"] == pytest.approx(4_000, rel=0.1)
    assert "C takes" not in finding.sentence


def test_languages_are_not_ranked_among_each_other(results: Results) -> None:
    assert not [finding.id for finding in results.findings if finding.id.startswith("fastest.runtime")]
    assert not [finding.id for finding in results.first.advice if "runtime" in finding.id]
    assert [finding.id for finding in results.first.answer] == [
        "answer.languages.os_thread",
        "answer.languages.thread_pool",
    ]


def test_rows_to_draw_have_first_and_later_launches(results: Results) -> None:
    rows = {(row.head, row.temperature): row.times_ns for row in results.series["languages"]}
    assert list(rows["thread", "warm"]) == ["C", "python", "node"]
    assert list(rows["thread", "cold"]) == ["node"]
    assert rows["thread", "cold"]["node"][0] == pytest.approx(9_000_000, rel=0.1)


def test_a_condition_is_compared_with_the_same_of_c_alone() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    builder.cell("python.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 60_000}, parent_bytes=1 << 20)
    results = summarize(builder.run)
    [row] = results.series["languages"]
    assert list(row.times_ns) == ["python"]
