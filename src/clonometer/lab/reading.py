"""Lessons: read from pages of Markdown, whose parts are for the student or for the teacher."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from clonometer.errors import unknown
from clonometer.studies.published import Item, Study, load_published

#: What a lesson lasts.
LESSON_MINUTES = 90
#: The lessons, as they build on each other: the published studies, then what explains them.
NAMES = (
    "loop-10000",
    "bendersky-2018",
    "sysel-2020",
    "burian-2015",
    "fork-memory",
    "copy-on-write",
    "thread-stack",
    "zombie-and-crash",
    "who-shares-what",
)
#: Who a part is for and what it is.
PartKind = Literal["text", "code", "teacher"]

_STEP = re.compile(r"^## (?P<title>.+) \((?P<minutes>\d+) min\)$", re.MULTILINE)
_PART = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^::: teacher\n(?P<teacher>.*?)^:::$|^\{published: (?P<ids>[\w ]+)\}$",
    re.MULTILINE | re.DOTALL,
)
_ANSWER = re.compile(r"<details><summary>(?P<summary>.*?)</summary>\n(?P<text>.*?)</details>", re.DOTALL)


@dataclass(frozen=True)
class LessonPart:
    """A text, a cell of Python, or what only the teacher reads."""

    kind: PartKind
    text: str


@dataclass(frozen=True)
class LessonStep:
    """A step of a lesson: what there is to read, to guess, to run and to answer."""

    title: str
    minutes: int
    parts: tuple[LessonPart, ...]
    #: Ids of what the studies published, which stands in it.
    published: tuple[str, ...] = ()

    def texts(self, kind: PartKind) -> list[str]:
        """The texts of its parts of one kind."""
        return [part.text for part in self.parts if part.kind == kind]

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Questions that the student finds answered on a click, and their answers."""
        matches = (match for text in self.texts("text") for match in _ANSWER.finditer(text))
        return [(match["summary"].strip(), match["text"].strip()) for match in matches]


@dataclass(frozen=True)
class Lesson:
    """One lesson: its name, what it teaches in one sentence, an introduction and its steps."""

    name: str
    title: str
    teaches: str
    intro: str
    steps: tuple[LessonStep, ...]

    @property
    def minutes(self) -> int:
        """How long all steps take together."""
        return sum(step.minutes for step in self.steps)


@cache
def load_lessons() -> tuple[Lesson, ...]:
    """Read all lessons, in the order in which they are listed.

    Examples
    --------
    >>> [lesson.name for lesson in load_lessons()][0]
    'loop-10000'
    """
    folder = resources.files("clonometer.lab") / "lessons"
    return tuple(read_lesson(name, (folder / f"{name}.md").read_text(encoding="utf-8")) for name in NAMES)


def find_lesson(name: str) -> Lesson:
    """Find a lesson by its name.

    Raises
    ------
    UsageError
        If there is none, with the nearest match and what exists.
    """
    lessons = {lesson.name: lesson for lesson in load_lessons()}
    if name not in lessons:
        raise unknown("lesson", name, lessons)
    return lessons[name]


def read_lesson(name: str, page: str) -> Lesson:
    """Read a lesson's page (README.md says what it is made of)."""
    (_, _, begin), *steps = _split(page)
    title, teaches, intro = begin.strip().split("\n\n", 2)
    teaches = " ".join(teaches.split())
    return Lesson(name, title.removeprefix("# "), teaches, intro, tuple(_step(*step) for step in steps))


def _split(body: str) -> Iterator[tuple[str, int, str]]:
    """What stands before the first step, then each step: its title, its minutes, its text."""
    headings = list(_STEP.finditer(body))
    ends = [match.start() for match in headings] + [len(body)]
    yield "", 0, body[: ends[0]]
    for heading, end in zip(headings, ends[1:], strict=True):
        yield heading["title"], int(heading["minutes"]), body[heading.end() : end]


def _step(title: str, minutes: int, text: str) -> LessonStep:
    parts: list[LessonPart] = []
    published: list[str] = []
    at = 0

    def add(kind: PartKind, text: str) -> None:
        if text.strip():
            parts.append(LessonPart(kind, text.strip("\n")))

    for match in _PART.finditer(text):
        add("text", text[at : match.start()])
        if match["code"] is not None:
            add("code", match["code"])
        elif match["teacher"] is not None:
            add("teacher", match["teacher"])
        else:
            published += match["ids"].split()
            add("text", published_table(match["ids"].split()))
        at = match.end()
    add("text", text[at:])
    return LessonStep(title, minutes, tuple(parts), tuple(published))


def published_table(ids: list[str]) -> str:
    """What studies published under these ids, as a table in Markdown."""
    published = load_published()
    items = [published.item(id_) for id_ in ids]
    rows = [
        f"| {item.id} | {what} | {figure} |"
        for item in items
        for what, figure in _published(item)
        if figure is not None
    ]
    studies = dict.fromkeys(item.study for item in items)
    sources = [_source(published.studies[study]) for study in studies]
    return "\n".join(["| id | published | figure |", "| --- | --- | --- |", *rows, "", "\n\n".join(sources)])


def _source(study: Study) -> str:
    return f"*{study.id}: {study.author}, {study.title}. Year: {study.year or 'not stated'}; machine: {study.machine}.*"


def _published(item: Item) -> Iterator[tuple[str, str | None]]:
    if item.kind != "figure":
        yield item.text, "" if item.size is None else f"{item.size:g} times"
    for value in item.values:
        yield value.what, None if value.control else value.shown
