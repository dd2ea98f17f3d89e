"""``lab``: lessons as notebooks, and what the cells of a lesson call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any, TypeVar

from clonometer.app.demo import demo
from clonometer.app.explain import explain
from clonometer.app.loaded import LoadedRun, load
from clonometer.app.reproduce import reproduce
from clonometer.app.run import run
from clonometer.errors import ClonometerError, UsageError, unknown
from clonometer.files import write_text
from clonometer.lab.notebook import BUDGET_S, notebook_text
from clonometer.lab.reading import Lesson, find_lesson, load_lessons
from clonometer.lab.sheet import teachers_sheet
from clonometer.results.types import Estimate
from clonometer.runfile import check_output
from clonometer.studies.types import Reproduction
from clonometer.units import format_grouped
from clonometer.views.notebook import notebook_picture

__all__ = ["Lab", "lessons", "write_lesson"]

_T = TypeVar("_T")
#: A guess that is off by less is a good one.
_NEAR = 1.25


def lessons() -> tuple[Lesson, ...]:
    """The lessons of the lab, in the order in which they build on each other.

    Returns
    -------
    tuple of clonometer.lab.reading.Lesson
        Each has a name, a title, what it teaches, its steps and their minutes.
    """
    return load_lessons()


def write_lesson(
    name: str, *, out: str | os.PathLike[str] | None = None, teacher: bool = False, force: bool = False
) -> Path:
    """Write a lesson as a Jupyter notebook, or the teacher's sheet that belongs to it.

    Parameters
    ----------
    name
        The lesson, such as ``loop-10000``.
    out
        The file, by default ``NAME.ipynb`` or ``NAME-teacher.md`` in the current folder.
    teacher
        Write the teacher's sheet: what each step shows where, expected figures, answers and common wrong ones.
    force
        Replace an existing file.

    Returns
    -------
    pathlib.Path
        What was written.

    Raises
    ------
    UsageError
        If there is no such lesson.
    OutputError
        If the file exists, or cannot be written.
    """
    lesson = find_lesson(name)
    default = f"{lesson.name}-teacher.md" if teacher else f"{lesson.name}.ipynb"
    path = check_output(default if out is None else out, force)
    write_text(path, teachers_sheet(lesson) if teacher else notebook_text(lesson))
    return path


class Shown(str):
    """A text that a notebook shows as Markdown."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


class Picture(str):
    """An SVG that a notebook draws."""

    def __repr__(self) -> str:
        return f"<picture, {len(self):,} bytes of SVG>"

    def _repr_html_(self) -> str:
        return notebook_picture(self, "The medians of the table above with their intervals, as a picture")


class NotHere:
    """Stands where something could not be measured or drawn: a notebook shows the reason, and goes on."""

    def __init__(self, error: ClonometerError) -> None:
        self.reason = error.message
        self.hint = error.hint
        #: Whether nothing of this machine prevents it: a name or a value does not exist.
        self.is_mistaken = isinstance(error, UsageError)

    def __repr__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{'Mistaken' if self.is_mistaken else 'Not possible here'}: {self.reason}{hint}"

    def _repr_markdown_(self) -> str:
        head, _, text = repr(self).partition(": ")
        return f"> **{head}:** {text}. {'Change the cell' if self.is_mistaken else 'Go on with the next cell'}."


@dataclass
class _Guess:
    question: str
    unit: str
    value: float | None
    measured: float | None = None
    published: str = ""


class Lab:
    """What the cells of a lesson call: they guess, measure, and set the guess beside the measurement.

    Whatever this machine cannot do is shown with its reason, and raises nothing, so that the lesson goes on.

    Parameters
    ----------
    name
        The lesson.
    budget_s
        How long each measurement takes, in seconds.
    folder
        Where run files are kept, by default ``clonometer-lab-NAME`` in the current folder.
    """

    def __init__(self, name: str, *, budget_s: float = BUDGET_S, folder: str | os.PathLike[str] | None = None) -> None:
        self._lesson = find_lesson(name)
        self._budget_s = budget_s
        self._folder = Path(folder or f"clonometer-lab-{self._lesson.name}")
        self._guesses: dict[str, _Guess] = {}
        self._runs = 0

    def __repr__(self) -> str:
        return f"<lab {self._lesson.name!r}: {self._budget_s:g} s for each measurement, run files in {self._folder}>"

    def _repr_markdown_(self) -> str:
        steps = "\n".join(f"{n}. {step.title} ({step.minutes} min)" for n, step in enumerate(self._lesson.steps, 1))
        return f"**{self._lesson.title}**, run files in `{self._folder}`:\n\n{steps}"

    def guess(self, key: str, question: str, value: float | EllipsisType, unit: str = "") -> Shown:
        """Write down a guess before something is measured.

        Parameters
        ----------
        key
            A word for it, by which `beside` finds it.
        question
            What is to be guessed.
        value
            The guess; three dots are none.
        unit
            Its unit, such as ``µs``.
        """
        number = None if isinstance(value, EllipsisType) else float(value)
        self._guesses[key] = _Guess(question, unit, number)
        if number is None:
            return Shown(f"**{question}** Write a number in place of the dots, and run this cell again.")
        return Shown(f"**{question}** You guess {format_grouped(number)}{_of(unit)}.")

    def beside(self, key: str, measured: float, published: str = "") -> Shown:
        """Set what was measured beside the guess.

        Parameters
        ----------
        key
            The word that `guess` was given.
        measured
            What was measured; not a number where nothing was.
        published
            What a study published, in words.
        """
        guess = self._guesses.setdefault(key, _Guess(key, "", None))
        guess.measured, guess.published = measured, published
        return Shown("\n".join(_table([guess])))

    def guesses(self) -> Shown:
        """All guesses of this lesson, each beside what was measured."""
        return Shown("\n".join(_table(self._guesses.values())))

    def run(self, *workloads: str, plan: str | None = None, only: str | None = None, **settings: str) -> Any:
        """Measure workloads under settings of axes, such as ``parent_bytes="0,64MiB"``, or cells of a plan.

        Returns
        -------
        LoadedRun or NotHere
            A notebook shows its table.
        """
        self._runs += 1
        path = self._folder / f"{self._runs}.parquet"

        def measure() -> LoadedRun:
            self._folder.mkdir(parents=True, exist_ok=True)
            chosen = [f"{axis}={values}" for axis, values in settings.items()]
            globs = [] if only is None else [only]
            run(workloads, settings=chosen, plan=plan, only=globs, budget_s=self._budget_s, out=path, force=True)
            return load(path)

        return _or_not_here(measure)

    def median(self, measured: object, workload: str, quantity: str = "reaped", **condition: str) -> float:
        """A median of a run, in µs where it is a time; not a number where the run does not have it.

        Parameters
        ----------
        measured
            What `run` gave.
        workload
            Such as ``launch.fork``.
        quantity
            A stage or a quantity.
        **condition
            The axes that are not at their default, as in the run's cells; ``temperature`` is ``warm`` if not given.

        Raises
        ------
        UsageError
            If the workload was measured, and has no such quantity.
        """
        if not isinstance(measured, LoadedRun):
            return math.nan
        rows = [row for row in measured.results().cells if row.workload == workload]
        known = {name for row in rows for name in (row.stage, row.quantity) if name}
        if rows and quantity not in known:
            raise unknown("quantity", quantity, known)
        asked = [row for row in rows if quantity in (row.stage, row.quantity) and _is_under(row, condition)]
        # Where the kernel chose the CPU there are several rows: the one with most launches.
        row = max(asked, key=lambda row: row.n_samples, default=None)
        if row is None:
            return math.nan
        return row.value if row.value is not None else math.nan if row.median_ns is None else row.median_ns / 1000

    def reproduce(self, *ids: str) -> Any:
        """Measure what published figures and claims are about, such as ``L1``, and set them beside it.

        Returns
        -------
        clonometer.studies.types.Reproduction or NotHere
        """
        out = self._folder / "published"
        return _or_not_here(lambda: reproduce(ids, quick=True, out=out, budget_s=self._budget_s))

    def figure(self, reproduced: object, what: str) -> float:
        """The figure measured here for a published one, in its unit; not a number where there is none.

        Parameters
        ----------
        reproduced
            What `reproduce` gave.
        what
            The words of its table, such as ``processes, real``.

        Raises
        ------
        UsageError
            If there is no such figure in it.
        """
        if not isinstance(reproduced, Reproduction):
            return math.nan
        rows = [row for study in reproduced.studies for row in reproduced.rows(study.id)]
        named = {row.published.what: row.value for row in rows}
        if what not in named:
            raise unknown("figure", what, named)
        value = named[what]
        return math.nan if value is None else value

    def explain(self, mechanism: str, vs: str | None = None, **settings: str) -> Any:
        """Take launches to pieces: where their time goes.

        Returns
        -------
        AnyExplanation or NotHere
        """
        chosen = [f"{axis}={value}" for axis, value in settings.items()]
        return _or_not_here(lambda: explain(mechanism, vs=vs, settings=chosen, processes=2))

    def demo(self, name: str) -> Any:
        """Run a teaching program; its lines, what it printed, and what that means.

        Returns
        -------
        clonometer.studies.demonstrations.DemoRun or NotHere
        """
        return _or_not_here(lambda: demo(name))

    def picture(self, measured: object, kind: str | None = None) -> Any:
        """Draw a run, as ``clonometer plot`` does.

        Returns
        -------
        Picture or NotHere
        """
        if not isinstance(measured, LoadedRun):
            return measured
        return _or_not_here(lambda: Picture(measured.picture(kind)))


def _or_not_here(measure: Callable[[], _T]) -> _T | NotHere:
    try:
        return measure()
    except ClonometerError as error:
        return NotHere(error)


def _is_under(row: Estimate, condition: Mapping[str, str]) -> bool:
    """Whether a row is of a condition: its cell names all axes that are off their default, and no other."""
    _, _, inside = row.cell.removesuffix("]").partition("[")
    named = dict(part.split("=", 1) for part in inside.split(",") if part)
    # What has no launches has no temperature either.
    warm = {"temperature": "warm"} if row.temperature is not None else {}
    return named == {**warm, **condition}


def _table(guesses: Iterable[_Guess]) -> Iterator[str]:
    """Guesses beside what was measured, as a table in Markdown."""
    yield "| | your guess | measured here | published | off by |\n| --- | ---: | ---: | ---: | --- |"
    for guess in guesses:
        unit = _of(guess.unit)
        mine = "-" if guess.value is None else f"{format_grouped(guess.value)}{unit}"
        measured = (
            "-"
            if guess.measured is None
            else "not here"
            if math.isnan(guess.measured)
            else f"{format_grouped(guess.measured)}{unit}"
        )
        yield f"| {guess.question} | {mine} | {measured} | {guess.published or '-'} | {_how_far(guess)} |"


def _how_far(guess: _Guess) -> str:
    """By which factor a guess was off, in whichever direction."""
    if guess.value is None:
        return "no guess"
    if guess.measured is None or not (guess.value > 0 and guess.measured > 0):
        return "-"
    factor = max(guess.value / guess.measured, guess.measured / guess.value)
    if factor < _NEAR:
        return "nothing to speak of"
    return f"a factor of {factor:.2g}, too {'high' if guess.value > guess.measured else 'low'}"


def _of(unit: str) -> str:
    return f" {unit}" if unit else ""
