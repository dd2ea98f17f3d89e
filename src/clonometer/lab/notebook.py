"""A lesson as a Jupyter notebook: JSON of nbformat 4.5, which needs no library to be written."""

from __future__ import annotations

import json
from typing import Any

from clonometer.lab.reading import Lesson

#: How long each measurement takes if nothing else is asked for: enough processes for an interval, and within 30 s.
BUDGET_S = 5

_HOW = """\
**You need** Linux, Clonometer and `pip install jupyter`. No root is needed. If this machine cannot do something,
the cell says so with the reason, and the lesson goes on.

**How to work:** run one cell after the other with Shift+Enter. Before each measurement, a cell asks for your guess:
write a number in place of the dots, and run the cell. You learn most from a wrong guess, so make it before you measure.
Each measurement takes about {budget_s} s, and no step more than 30 s. Close what else keeps the machine busy.

**How to read:** the figure beside your guess comes from medians. The 95% intervals in the table above it say how
certain they are. Where two overlap, the answer is open, and a larger `BUDGET_S` helps. Where the times rose or fell
while they were measured, the table says "drifts" in place of an interval: none would be honest then. Measure again
when the machine is quieter. Commands below a table, such as `clonometer run ... --set ...`, repeat a figure or decide
it in a terminal: you need none of them here."""
_PARAMETERS = """\
BUDGET_S = {budget_s}  # seconds for each measurement: more seconds, narrower intervals"""
_BEGIN = """\
import clonometer

lab = clonometer.Lab("{name}", budget_s=BUDGET_S)
lab"""
_GUESSES = """\
## Your guesses

The cell below shows all of them beside what was measured. Where were you off by the largest factor, and why?"""


def notebook(lesson: Lesson) -> dict[str, Any]:
    """Make the student's notebook of a lesson, as the object that is written as JSON."""
    teaches = f"*A lesson of {lesson.minutes} minutes.* {lesson.teaches}"
    cells = [
        _text(f"# {lesson.title}\n\n{teaches}\n\n{lesson.intro}\n\n{_HOW.format(budget_s=BUDGET_S)}"),
        _code(_PARAMETERS.format(budget_s=BUDGET_S), tags=["parameters"]),
        _code(_BEGIN.format(name=lesson.name)),
    ]
    for number, step in enumerate(lesson.steps, 1):
        heading = f"## {number}. {step.title}\n\n*{step.minutes} minutes*"
        for part in step.parts:
            if part.kind == "code":
                cells += [_text(heading)] if heading else []
                cells.append(_code(part.text))
                heading = ""
            elif part.kind == "text":
                cells.append(_text(f"{heading}\n\n{part.text}" if heading else part.text))
                heading = ""
    cells += [_text(_GUESSES), _code("lab.guesses()")]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        # Ids that follow from the lesson: the same notebook is the same file.
        "cells": [{**cell, "id": f"{lesson.name}-{number}"} for number, cell in enumerate(cells, 1)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}, "title": lesson.title},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def notebook_text(lesson: Lesson) -> str:
    """The file of a lesson's notebook."""
    return json.dumps(notebook(lesson), indent=1, ensure_ascii=False) + "\n"


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.strip("\n").splitlines(keepends=True)}


def _code(source: str, tags: list[str] | None = None) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": tags} if tags else {},
        "outputs": [],
        "source": source.strip("\n").splitlines(keepends=True),
    }
