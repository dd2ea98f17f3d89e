"""Answers in a notebook are the documents that commands print."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

import clonometer
from clonometer.app.shown import shown_as
from clonometer.views.document import Document, Heading, Paragraph
from clonometer.views.documents import demo as documents

APP = Path(str(clonometer.__file__)).parent / "app"
BUILDERS = sorted(
    {
        named
        for path in APP.glob("*.py")
        for named in re.findall(r'^@shown_as\("(\w+)", "(\w+)"\)', path.read_text(), re.MULTILINE)
    }
)


@dataclass(frozen=True)
class Answer:
    text: str


def test_an_answer_is_shown_as_its_document_with_headings_smaller_than_the_notebooks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def build(answer: Answer) -> Document:
        return Document("made", "A title", "", [[Heading("Part"), Paragraph(answer.text)]])

    monkeypatch.setattr(documents, "demo_document", build)

    @shown_as("demo", "demo_document")
    def ask(text: str) -> Answer:
        """Answer."""
        return Answer(text)

    answer = ask("said")
    assert answer._repr_markdown_() == "**A title**\n\n#### Part\n\nsaid\n"  # type: ignore[attr-defined]
    assert inspect.getdoc(ask) == "Answer."


@pytest.mark.parametrize(("module", "builder"), BUILDERS)
def test_each_document_is_made_of_the_answer_alone(module: str, builder: str) -> None:
    build = getattr(import_module(f"clonometer.views.documents.{module}"), builder)
    first, *others = inspect.signature(build).parameters.values()
    assert first.default is first.empty
    assert all(other.default is not other.empty for other in others)


def test_most_functions_are_shown() -> None:
    assert len(BUILDERS) >= 15
