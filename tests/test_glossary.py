"""Every word that tables and pages show has its line in the glossary; those of the catalogue are in `list NAME`."""

from __future__ import annotations

import re
from pathlib import Path

from clonometer.families.common import STAGES
from clonometer.views.statistics import STATISTICS
from clonometer.words import PLACEMENT_NAMES

GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"
#: What the terminal and the page say besides columns: temperatures, placements, verdicts, what warnings are about.
SAID = {
    *("cold", "warm", "pinned", "free", "slower", "faster", "cannot tell"),
    *("finding", "warning", "interval", "median", "regression", "baseline", "drift", "outlier", "noise", "seed"),
    *("tier", "census", "creator", "claim", "verdict", "ablation", "prediction", "calibration", "fleet", "data set"),
}


def explained() -> set[str]:
    """The terms of the first column; of one with a qualification in brackets the term alone."""
    cells = re.findall(r"^\| \*+(.+?)\*+ ?(?:\([^)]*\) )?\|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r" \(.*\)", "", term) for cell in cells for term in cell.split(", ")}


def test_every_word_of_a_table_is_in_the_glossary() -> None:
    columns = [statistic.heading for statistic in STATISTICS]
    shown = {*(stage.title for stage in STAGES), *columns, *PLACEMENT_NAMES.values(), *SAID}
    assert shown - explained() == set()


def test_no_term_is_explained_twice() -> None:
    lines = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("| *")]
    terms = [term for line in lines for term in line.split("|")[1].strip(" *").split(", ")]
    assert sorted({term for term in terms if terms.count(term) > 1}) == []
