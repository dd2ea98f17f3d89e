from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.decisive import differences
from tests.results.runs import GIB
from tests.snapshots.findings import all_results

from clonometer.results.types import Finding
from clonometer.views.labels import shown_axes
from clonometer.words import axis_words

# A finding's own subject, which it calls by words of its own.
SUBJECTS = {"task_kind", "fault"}
# Of these the number stands in the sentence: "2 threads".
COUNTED = {"siblings", "tasks", "workers"}


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
            assert re.search(r" is (open|likely)\b", finding.headline or finding.sentence), finding.id


def test_a_slope_is_told_only_of_what_costs_more_and_in_units_that_were_measured() -> None:
    n_slopes = 0
    for finding in _all_findings():
        text, numbers = finding.sentence + finding.headline, finding.numbers
        if "slope_ns_per_page" in numbers:
            n_slopes += " adds " in text
            assert " adds " not in text or numbers["verdict"] == "more", finding.id
            assert "GiB" not in text or numbers["parent_bytes"][-1] >= GIB, finding.id
    assert n_slopes > 3


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


#: A number of its own: not part of a word, nor of an axis' unit.
_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
# As "2.9 (2.8 to 3.0) times", or in brackets as "(1.01, 0.99 to 1.03)".
_RATIO = re.compile(r"([\d.,]+\d)(?: \(|, )([\d.,]*\d) to ([\d.,]*\d)")
# A digit is shown at least, of wide intervals no more.
ROUNDING = 0.08


def _is_among(figure: str, numbers: Mapping[str, Any]) -> bool:
    """Whether a figure is one of a finding's numbers, in any unit of time."""
    known = [number for number in numbers.values() if isinstance(number, int | float) and number]
    value = float(figure.replace(",", ""))
    return any(abs(value * unit / number - 1) < ROUNDING for number in known for unit in (1.0, 1e3, 1e6, 1e9))


def test_a_headline_has_no_figure_that_its_sentence_and_its_numbers_lack() -> None:
    checked = 0
    for finding in _all_findings():
        lost = set(_FIGURE.findall(finding.headline)) - set(_FIGURE.findall(finding.sentence))
        checked += bool(finding.headline)
        unknown = {figure for figure in lost if not _is_among(figure, finding.numbers)}
        assert not unknown, (finding.id, finding.headline, finding.sentence)
    assert checked > 100


def test_the_ratio_of_a_finding_stands_in_its_sentence() -> None:
    checked = 0
    for finding in _all_findings():
        text = finding.headline or finding.sentence
        ratio, low, high = (finding.numbers.get(key) for key in ("ratio", "ratio_low", "ratio_high"))
        # An interval without width is not written.
        if "times as long" not in text or ratio is None or low is None or high is None or low == high:
            continue
        stated = [[float(figure.replace(",", "")) for figure in match] for match in _RATIO.findall(text)]
        assert any(
            all(abs(figure / number - 1) <= ROUNDING for figure, number in zip(figures, numbers, strict=True))
            for figures in stated
            for numbers in ((ratio, low, high), (1 / ratio, 1 / high, 1 / low))
        ), (finding.id, text, ratio, low, high)
        checked += 1
    assert checked > 30
