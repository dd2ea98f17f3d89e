from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.simulated_findings import differences
from tests.results.sentences import GOLDEN, all_results, sentences

from clonometer.results.types import Finding
from clonometer.views.labels import shown_axes
from clonometer.words import axis_words

# A finding's own subject, which it calls by words of its own.
SUBJECTS = {"task_kind", "fault"}
# Of these the number stands in the sentence: "2 threads".
COUNTED = {"siblings", "tasks", "workers"}


def test_sentences_are_those_of_the_golden_file() -> None:
    golden, now = (text.splitlines() for text in (GOLDEN.read_text(encoding="utf-8"), sentences()))
    changes = "\n".join(difflib.unified_diff(golden, now, str(GOLDEN.name), "as the code says now", n=2, lineterm=""))
    if changes:
        pytest.fail(
            f"Sentences changed. Where they are meant: make golden, and read the change.\n{changes}", pytrace=False
        )


def _all_findings() -> Iterator[Finding]:
    return (finding for results in all_results().values() for finding in results.findings)


def test_every_finding_has_an_id_of_its_own() -> None:
    for name, results in all_results().items():
        counts = Counter(finding.id for finding in results.findings)
        assert [id_ for id_, times in counts.items() if times > 1] == [], name


def test_ids_are_those_of_the_schema() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/show.schema.json").read_text())
    pattern = schema["$defs"]["finding"]["properties"]["id"]["pattern"]
    ids = [finding.id for finding in _all_findings()]
    assert [id_ for id_ in ids if not re.search(pattern, id_)] == []
    # Programs and values stand in ids.
    assert any("/" in id_ for id_ in ids)
    assert any("=" in id_ for id_ in ids)


def test_what_no_verdict_bears_is_not_stated() -> None:
    for finding in _all_findings():
        if "ratio" in finding.numbers and not differences(finding.numbers):
            assert "times as long as" not in finding.sentence + finding.headline, finding.id


def test_every_sentence_names_the_condition_of_all_its_cells() -> None:
    checked = 0
    for results in all_results().values():
        conditions = {estimate.cell: estimate.condition for estimate in results.cells}
        for finding in results.findings:
            cells = finding.numbers["cells"]
            changes = [{(axis, conditions[cell][axis]) for axis in shown_axes(cell)} for cell in cells]
            for axis, value in set.intersection(*changes):
                if axis not in SUBJECTS:
                    checked += 1
                    words = f"{value:,}" if axis in COUNTED else axis_words(axis, value)
                    assert words in finding.sentence, (finding.id, finding.sentence)
                    assert words in (finding.headline or finding.sentence), (finding.id, finding.headline)
    assert checked > 20
