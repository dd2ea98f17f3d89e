from __future__ import annotations

from functools import partial

from clonometer.model.types import CostRange
from clonometer.model.validated import ValidatedFork
from clonometer.model.validation import summarize_validation
from clonometer.views.documents.validation import validation_document
from clonometer.views.terminal.document import render_document

render_validation = partial(render_document, validation_document)


def test_errors_of_all_of_each_state_and_of_each_term() -> None:
    predicted = CostRange(80, 100, 120)
    forks = [
        ValidatedFork("first", predicted, (100.0, 125.0, 130.0), 125.0, "small pages"),
        ValidatedFork("later_hot", predicted, (90.0,), 90.0, "base"),
    ]
    text = render_validation(summarize_validation(forks), width=90, colour=False, ascii_only=True)
    rows = {line.split("  ")[0].strip(): line.split() for line in text.splitlines()}
    assert "-20%" in rows["first fork"]
    assert "+11%" in rows["most: base"]
    assert "50%" in rows["all"]
    assert "(aim 8%)" in text
