"""What each language takes for the same thing, beside C, to say and to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.families import families
from clonometer.families.types import Family, LanguageTask
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run
from clonometer.results.series_types import REFERENCE, LanguageRow

#: Axes off their default, and the temperature.
_Where = tuple[tuple[tuple[str, int | str], ...], str | None]


@dataclass(frozen=True)
class LanguageAnswers:
    """The rows of all languages that answer a question under one condition, and that of C, if there is one.

    ``reused``: languages whose first launch in a process creates a task of the kernel, and whose later ones none.
    ``woken``: what C does where these use again what ended, if that was measured.
    """

    word: str
    task: LanguageTask
    changes: Mapping[str, int | str]
    temperature: str | None
    base: RunEstimate | None
    rows: Mapping[str, RunEstimate]
    is_instrument: bool
    reused: frozenset[str] = frozenset()
    woken: RunEstimate | None = None


@cached_per_run
def answers_of(estimates: RunEstimates) -> tuple[LanguageAnswers, ...]:
    """Gather what languages take, question by question in the order of families, and by condition in that of the plan.

    Empty where no language was measured.
    """
    gathered: list[LanguageAnswers] = []
    for family in families():
        for word, task in family.language_tasks.items():
            asked = [row for row in estimates.rows if _answers(row, family.name, word, task)]
            for condition in dict.fromkeys(_condition(estimates, row) for row in asked):
                alike = [row for row in asked if _condition(estimates, row) == condition]
                languages = {row.workload.partition(".")[0]: row for row in alike}
                gathered.append(_with_base(estimates, family, word, condition, languages))
    return tuple(gathered)


def _answers(row: RunEstimate, family: str, word: str, task: LanguageTask) -> bool:
    # C's workload for the same purpose may end in the same word.
    asked = row.workload != task.base and row.workload.partition(".")[2] == word
    return asked and (row.family, row.quantity) == (family, task.quantity)


def _condition(estimates: RunEstimates, row: RunEstimate) -> _Where:
    return tuple(estimates.changes(row).items()), row.temperature


def _with_base(
    estimates: RunEstimates,
    asked: Family,
    word: str,
    condition: _Where,
    rows: Mapping[str, RunEstimate],
) -> LanguageAnswers:
    task, changes, temperature = asked.language_tasks[word], dict(condition[0]), condition[1]
    base, woken = (
        _row_of_c(estimates, *of_c, changes, temperature)
        for of_c in ((task.base, task.base_quantity), (task.reuse, task.reuse_quantity))
    )
    reused = frozenset(name for name, row in rows.items() if _is_reused(estimates, row))
    return LanguageAnswers(word, task, changes, temperature, base, rows, asked.instrument, reused, woken)


def _row_of_c(
    estimates: RunEstimates,
    workload: str,
    quantity: str,
    changes: Mapping[str, int | str],
    temperature: str | None,
) -> RunEstimate | None:
    """What a workload of C takes under the same condition; None where that was not measured."""
    rows = (
        row
        for row in estimates.rows_of(workload)
        if row.quantity == quantity and row.temperature in (temperature, None) and estimates.changes(row) == changes
    )
    return next(rows, None)


def _is_reused(estimates: RunEstimates, row: RunEstimate) -> bool:
    """Whether later launches use what the first one has created."""
    if row.is_first_launch or row.tasks_created is None or row.tasks_created.per_launch != 0:
        return False
    first = estimates.main(row.workload, estimates.changes(row), "cold", row.stage, row.quantity)
    return first is not None and first.tasks_created is not None and first.tasks_created.least >= 1


def language_rows(estimates: RunEstimates) -> tuple[LanguageRow, ...]:
    """What each language takes (`answers_of`), ready to draw."""
    drawn = []
    for each in answers_of(estimates):
        rows = {**({} if each.base is None else {REFERENCE: each.base}), **each.rows}
        times = {language: row.median_with_ends for language, row in rows.items() if row.n_samples}
        unsteady = tuple(name for name, row in each.rows.items() if row.steady is not None and row.steady.is_in_doubt)
        created = {
            name: row.tasks_created.per_launch for name, row in each.rows.items() if row.tasks_created is not None
        }
        # A pool is used again by its nature.
        reused = sorted(each.reused) if each.task.creates else ()
        task = each.task
        words = (task.head, task.thing)
        row = LanguageRow(*words, each.changes, each.temperature, times, unsteady, created, reused, each.is_instrument)
        drawn.append(row)
    return tuple(drawn)


SERIES = {"languages": lambda estimates, _: language_rows(estimates)}
