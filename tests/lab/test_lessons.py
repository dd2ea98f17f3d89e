"""The lessons of the lab: each has all that a lesson must have, and names nothing that does not exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from clonometer.errors import UsageError
from clonometer.lab import reading
from clonometer.lab.notebook import notebook, notebook_text
from clonometer.lab.reading import (
    LESSON_MINUTES,
    NAMES,
    Lesson,
    find_lesson,
    load_lessons,
    published_table,
    read_lesson,
)
from clonometer.lab.sheet import teachers_sheet
from clonometer.studies.published import load_published

LESSONS = load_lessons()
EACH = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
STUDIES = tuple(load_published().studies)
MEASURES = re.compile(r"lab\.(run|reproduce|explain|demo)\(")

PAGE = """\
# A title

It teaches
something.

An introduction.

## Guess (5 min)

```python
lab.guess("x", "How much?", ...)
```

::: teacher
- **Expected:** 3.
:::

## Measure (85 min)

Run it.

{published: L1 L6}

<details><summary>Why?</summary>

Because.

</details>
"""


def code(lesson: Lesson) -> list[str]:
    return [text for step in lesson.steps for text in step.texts("code")]


def calls(lesson: Lesson, method: str) -> list[ast.Call]:
    trees = [ast.parse(text) for text in code(lesson)]
    return [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]


def texts(asked: list[ast.Call], place: int = 0) -> list[str]:
    return [str(ast.literal_eval(call.args[place])) for call in asked]


def test_a_page_is_read_into_parts_for_the_student_and_for_the_teacher() -> None:
    lesson = read_lesson("made", PAGE)
    assert (lesson.title, lesson.teaches, lesson.intro) == ("A title", "It teaches something.", "An introduction.")
    assert [(step.title, step.minutes) for step in lesson.steps] == [("Guess", 5), ("Measure", 85)]
    guess, measure = lesson.steps
    assert [part.kind for part in guess.parts] == ["code", "teacher"]
    assert guess.texts("teacher") == ["- **Expected:** 3."]
    assert measure.published == ("L1", "L6")
    assert measure.answers == [("Why?", "Because.")]


def test_published_numbers_are_those_of_the_studies() -> None:
    table = published_table(["L1", "L6", "S1", "B3", "B5", "S3", "U8"])
    assert "| L1 | processes, real | 12.627 s |" in table
    assert "| L6 | threads are 13 times faster | 13 times |" in table
    assert "| S1 | fork, child runs | 60–170 µs |" in table
    assert "| B3 | memcpy of 2 MB | over 60 µs |" in table
    assert "tens of kilobytes |" in table
    assert "about 20 ms" in table
    assert "control" not in table
    assert "Year: not stated; machine: not stated (32-bit x86).*" in table


def test_the_seed_studies_come_first_and_all_pages_are_lessons() -> None:
    assert set(NAMES[:4]) == set(STUDIES)
    pages = (Path(reading.__file__).parent / "lessons").glob("*.md")
    assert {page.stem for page in pages} == set(NAMES)


def test_a_name_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'fork-memory'"):
        find_lesson("fork-memry")


@EACH
def test_it_lasts_90_minutes_and_each_step_has_something_to_do_and_a_word_for_the_teacher(lesson: Lesson) -> None:
    assert lesson.minutes == LESSON_MINUTES
    assert len(lesson.steps) >= 5
    for step in lesson.steps:
        assert step.texts("code") or step.answers, step.title
        (teacher,) = step.texts("teacher")
        assert "**Common wrong answers:**" in teacher, step.title
        if any(MEASURES.search(text) for text in step.texts("code")):
            for place in ("Laptop", "VM", "ontainer"):
                assert place in teacher, step.title


@EACH
def test_it_asks_for_guesses_before_it_measures_and_sets_each_beside_the_measurement(lesson: Lesson) -> None:
    assert "lab.guess(" in lesson.steps[0].texts("code")[0]
    assert not any(MEASURES.search(text) for text in lesson.steps[0].texts("code"))
    guesses = calls(lesson, "guess")
    assert len(guesses) >= 2
    # No number stands there: the student writes it.
    assert all(ast.literal_eval(call.args[2]) is ... for call in guesses)
    beside = texts(calls(lesson, "beside"))
    assert set(beside) <= set(texts(guesses))
    if lesson.name != "who-shares-what":  # two of its guesses are answered by demos
        assert set(beside) == set(texts(guesses))
    source = "\n".join(code(lesson))
    for key in beside:
        assert (
            source.index(f'lab.guess("{key}"') < source.index(f'lab.beside("{key}"')
            if f'lab.guess("{key}"' in source
            else True
        )


@EACH
def test_it_has_hidden_answers_published_figures_and_a_step_that_reverses_something(lesson: Lesson) -> None:
    assert sum(len(step.answers) for step in lesson.steps) >= 5
    assert any("reverses" in step.title or "reverses" in " ".join(step.texts("text")) for step in lesson.steps)
    published = {id_ for step in lesson.steps for id_ in step.published}
    assert published
    named = set(re.findall(r"\b[SBUL]\d+\b", str(lesson.steps)))
    assert named <= {item.id for item in load_published().items}
    if lesson.name in STUDIES:
        of_study = {item.id for item in load_published().items if item.study == lesson.name}
        assert published & of_study
        assert {text for call in calls(lesson, "reproduce") for text in map(ast.literal_eval, call.args)} & of_study


@EACH
def test_its_notebook_is_valid_and_has_nothing_for_the_teacher(lesson: Lesson) -> None:
    made: NotebookNode = nbformat.reads(notebook_text(lesson), as_version=4)
    nbformat.validate(made)
    sources = "\n".join(cell.source for cell in made.cells)
    assert ":::" not in sources
    assert "{published" not in sources
    assert "Common wrong answers" not in sources
    assert sources.count("<details>") == sources.count("</details>") == sum(len(step.answers) for step in lesson.steps)
    assert "pip install jupyter" in made.cells[0].source
    (parameters,) = (cell for cell in made.cells if "parameters" in cell.metadata.get("tags", ()))
    assert parameters.source.startswith("BUDGET_S = 5")
    assert f'clonometer.Lab("{lesson.name}", budget_s=BUDGET_S)' in made.cells[2].source
    assert notebook(lesson) == notebook(lesson)


@EACH
def test_its_sheet_has_each_step_and_the_answers_that_the_notebook_hides(lesson: Lesson) -> None:
    sheet = teachers_sheet(lesson)
    for step in lesson.steps:
        assert f" {step.title} ({step.minutes} min)" in sheet
        for question, answer in step.answers:
            assert question in sheet
            assert answer in sheet
    assert "<details>" not in sheet
    assert "lab.run" not in sheet
    # Nobody has measured on a laptop or in a container: each such line says so.
    machines = re.findall(r"^- \*\*(.*(?:aptop|ontainer).*):\*\*(.*)", sheet, re.MULTILINE)
    assert machines
    assert all("measured" in named or "nothing is measured yet" in line for named, line in machines)
    assert "**VM (" not in sheet
