"""What findings and warnings say of fixed runs, each with the numbers it rests on, for a person to read in a row.

One file has what reverses a contradiction between studies, another what changed since a run before. Tests judge ids
and numbers (``tests/results/test_sentences.py``); words are judged by reading the diff.
"""

from __future__ import annotations

import gzip
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results, RunWarning
from clonometer.runfile import open_run
from tests.results import runs, runs_of_doubts, runs_of_servers, runs_of_workers
from tests.results.runs import RUNS
from tests.results.runs_of_since import SINCE
from tests.studies.runs_of_flips import FLIPS

DATA = Path(__file__).parents[1] / "data"
SHOWN_CELLS = 3
# Each adds its runs as it is imported, by whichever test comes first: their order is this one.
MODULES = [module.__name__ for module in (runs, runs_of_doubts, runs_of_servers, runs_of_workers)]


def frozen_run() -> Results:
    """Summarize the frozen run of every family (tests/data)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "families.parquet"
        path.write_bytes(gzip.decompress((DATA / "families.parquet.gz").read_bytes()))
        with open_run(path) as run:
            return summarize(run)


@cache
def all_results() -> Mapping[tuple[str, str], Results]:
    """Summarize every run: its name and what it is."""
    in_order = sorted(RUNS.items(), key=lambda run: MODULES.index(run[1].__module__))
    made = {(name, make.__doc__ or ""): summarize(make()) for name, make in in_order}
    return made | {("families", "A few really measured samples of every family."): frozen_run()}


def findings() -> Iterator[tuple[str, str]]:
    """Give each file's name and its text."""
    warned: set[tuple[str, str]] = set()
    for (name, truth), results in all_results().items():
        assert truth
        yield f"findings/{name}.txt", "\n".join([truth, "", *_of_run(results, warned)])
    for title, answers in (("contradiction", FLIPS), ("since", SINCE)):
        blocks = [block for name, make in answers.items() for block in _of_answer(name, make, title)]
        yield f"findings/{title}.txt", "\n".join(blocks)


def _of_answer(name: str, make: Callable[[], Any], title: str) -> tuple[str, str]:
    assert make.__doc__
    return f"==== {name}\n{make.__doc__}\n", _block(title, [make().sentence])


def _of_run(results: Results, warned: set[tuple[str, str]]) -> Iterator[str]:
    """Give each finding, and each warning whose words are not in ``warned`` already with other numbers and names."""
    first = results.first
    for part in (first.answer, first.reasons, first.advice, first.doubts):
        yield from (_of_finding(finding) for finding in part)
    yield from (_of_finding(finding) for finding in results.findings)
    for warning in (warning for row in [results, *results.cells] for warning in row.warnings):
        words = re.sub(r"[\d.,%]+", "", warning.sentence.split(": ", 1)[-1])
        if (warning.id, words) not in warned:
            warned.add((warning.id, words))
            yield _of_warning(warning)


def _block(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"    {line}" for line in lines), ""])


def _of_finding(finding: Finding) -> str:
    lines = [finding.sentence]
    if finding.headline:
        lines.append(f"headline: {finding.headline}")
    ratio = _ratio(finding.numbers)
    if ratio:
        lines.append(f"ratio: {ratio}")
    cells = list(finding.numbers["cells"])
    more = f" ... {len(cells) - SHOWN_CELLS} more" if len(cells) > SHOWN_CELLS else ""
    lines.append(f"cells: {'; '.join(cells[:SHOWN_CELLS])}{more}")
    return _block(finding.id, lines)


def _ratio(numbers: Mapping[str, Any]) -> str:
    words = ""
    if numbers.get("ratio") is not None:
        low, high = numbers["ratio_low"], numbers["ratio_high"]
        ends = "" if low is None or high is None else f" ({low:.3g} to {high:.3g})"
        words = f"{numbers['ratio']:.3g}{ends}"
    return " ".join(filter(None, [words, str(numbers.get("verdict") or "")]))


def _of_warning(warning: RunWarning) -> str:
    return _block(f"warning {warning.id}", [warning.sentence, f"next: {warning.next_step}"])
