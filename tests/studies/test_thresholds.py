"""The table of thresholds in docs/studies.md is that of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonometer.studies.answer import CLAIMS
from clonometer.studies.thresholds import THRESHOLDS

PAGE = Path(__file__).parents[2] / "docs" / "studies.md"


def row(threshold):
    users = ", ".join(id_ for id_, claim in CLAIMS.items() if threshold in claim.thresholds)
    return f"| {threshold.words} | {threshold.meaning} | {threshold.reason} | {users} |"


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=lambda threshold: threshold.words)
def test_each_stands_in_the_table_with_its_reason_and_its_claims(threshold):
    assert row(threshold) in PAGE.read_text(encoding="utf-8")


def test_no_claim_has_a_threshold_that_stands_nowhere():
    assert {threshold for claim in CLAIMS.values() for threshold in claim.thresholds} == set(THRESHOLDS)
    assert {id_ for id_, claim in CLAIMS.items() if not claim.thresholds} == {"L8", "S20"}
