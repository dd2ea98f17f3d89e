"""A sentence says so where a median that it rests on drifts, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import FORK, PTHREAD

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results

RISE = 0.4
MARK = "(drifts)."


def run_of(*rising: str) -> Results:
    """Fork, pthread and fork with memory; the named stages of fork rise by two fifths over the run."""
    builder = RunBuilder(seed=5)
    text = builder.cell("launch.fork", FORK, spread=0.01, processes=20)
    builder.cell("launch.pthread", PTHREAD, spread=0.01, processes=20)
    builder.cell("launch.fork", {name: 20 * value for name, value in FORK.items()}, spread=0.01, processes=20,
                 parent_bytes=1 << 30)  # fmt: skip
    columns = builder.run.data[text]
    for name in rising:
        columns[name] = (columns[name] * (1 + RISE * columns["process"] / 19)).astype(np.int64)
    return summarize(builder.run)


def all_sentences(results: Results) -> list[Finding]:
    first = results.first
    return [*results.findings, *first.answer, *first.reasons, *first.advice]


def marked(finding: Finding) -> bool:
    assert finding.sentence.endswith(MARK) == (finding.headline or finding.sentence).endswith(MARK)
    return finding.sentence.endswith(MARK)


def names(value: Any) -> set[str]:
    return {finding.id for finding in value}


@pytest.fixture(scope="module")
def drifting() -> Results:
    return run_of(*FORK)


def test_where_every_row_keeps_its_level_no_sentence_speaks_of_drift() -> None:
    assert "drifts" not in " ".join(finding.sentence for finding in all_sentences(run_of()))


def test_what_rests_on_a_row_that_drifts_says_so(drifting: Results) -> None:
    of_fork = [finding for finding in drifting.findings if "launch.fork[temperature=warm]" in finding.numbers["cells"]]
    assert "process_vs_thread.warm" in names(of_fork)
    assert [finding.id for finding in of_fork if finding.states_difference and not marked(finding)] == []
    others = [finding for finding in all_sentences(drifting) if finding not in of_fork]
    assert [finding.id for finding in others if marked(finding)] == []


def test_a_difference_that_could_not_be_told_is_not_marked(drifting: Results) -> None:
    unsure = [finding for finding in all_sentences(drifting) if not finding.states_difference]
    assert [finding.id for finding in unsure if marked(finding)] == []


def test_only_the_stages_that_a_sentence_speaks_of_count() -> None:
    results = run_of("call_returns_ns")
    rows = {row.stage: row.drift for row in results.cells if row.cell == "launch.fork[temperature=warm]"}
    assert rows["call_returns"] is not None
    assert rows["reaped"] is None
    by_id = {finding.id: finding for finding in all_sentences(results)}
    assert not marked(by_id["answer.contest"])
    assert marked(by_id["process_vs_thread.warm"])


def test_a_median_that_drifts_has_no_more_digits_in_a_sentence_than_in_the_table(drifting: Results) -> None:
    [row] = [row for row in drifting.cells if row.cell == "launch.fork[temperature=warm]" and row.stage == "reaped"]
    low, high = row.known_within or (0.0, 0.0)
    assert row.median_ends is None
    assert (high - low) / (row.median_ns or 1.0) == pytest.approx(row.drift.share if row.drift else 0.0)
    [answer] = [finding for finding in drifting.first.answer if finding.id == "answer.contest"]
    figure = answer.sentence.partition(" takes ")[2].partition(" µs")[0]
    assert len(figure.replace(".", "").rstrip("0")) <= 2
