"""How far each language is from C in doing the same, and why, as the book of launch paths has it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.families import is_launch
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import PROGRAM, LaunchPath
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of, numbers_of
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, headed, in_doubt, listed, short_median
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series.languages import LanguageAnswers, answers_of
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import counted, language_name

_WARM = "warm"
#: The stages in which something new begins to run, the last one first, and what that is.
_BEGINS = {"image_runs": "the program", "task_runs": "the new task"}
#: From this share on a part of a launch is where its extra time goes.
_MOSTLY = 0.75
#: Of launches with fewer switches than this, at most a few had to do with another thread.
_RARELY = 0.1
#: The last program is the command that was asked for.
_COMMAND = "true"


def languages(tests: PairwiseTests) -> Iterator[Finding]:
    """Say of each thing what every language takes for it: as times C, where C does the same."""
    for each in answers_of(tests.estimates):
        if each.temperature == _WARM and each.rows and not each.is_instrument:
            yield _beside_c(tests, each) if each.base is not None else _alone(each)


def task_id(each: LanguageAnswers) -> str:
    """The end of the id of a finding about something that languages are asked to do, under one condition."""
    others = [str(value) for value in each.changes.values()]
    return ".".join([each.word, *others])


def task_head(each: LanguageAnswers) -> str:
    """What heads such a finding: the thing and its condition."""
    row = next(iter(each.rows.values()))
    return f"{each.task.thing}, {condition(each.changes, each.temperature, row.condition.get('placement'))}"


def _alone(each: LanguageAnswers) -> Finding:
    """Say what each language takes where C has nothing to compare with."""
    ranked = sorted(each.rows.items(), key=lambda item: item[1].median_ns or 0.0)
    clauses = [f"{language_name(name)} takes {short_median(row)}" for name, row in ranked]
    created = created_by(each)
    numbers = {
        "medians_ns": {name: row.median_ns for name, row in ranked},
        "tasks_per_launch": created,
        "cells": [row.cell for _, row in ranked],
        "verdict": str(Direction.UNKNOWN),
    }
    head = task_head(each)
    text = headed(head, [*clauses, *_creation(each, created)])
    return Finding(f"languages.{task_id(each)}", text, numbers, headed(head, ["; ".join(clauses[:2])]), _place(each, 0))


def _beside_c(tests: PairwiseTests, each: LanguageAnswers) -> Finding:
    assert each.base is not None  # Whoever has none is told alone.
    created = created_by(each)
    # Who creates nothing does not do what C does.
    apart = [name for name, count in created.items() if count == 0 and each.task.creates]
    compared = {name: tests.compare(row, each.base) for name, row in each.rows.items() if name not in apart}
    known = {name: change for name, change in compared.items() if change is not None}
    ranked = sorted(known.items(), key=lambda item: -item[1].size)
    reasons = {name: reason for name, _ in ranked if (reason := reason_of(tests.estimates, each.rows[name].workload))}
    parts = {name: part for name, change in ranked if (part := _longer_part(tests.estimates, change))}
    clauses = [_clause(name, change, reasons.get(name, ""), parts.get(name, "")) for name, change in ranked]
    reused = {name: _reused(tests, each, name) for name in apart}
    clauses += [_apart(each, name, change) for name, change in reused.items()]
    clauses += _creation(each, {name: count for name, count in created.items() if name not in apart})
    explained, explain = _explain(each, ranked)
    if explain:
        clauses.append(f"to see what {language_name(explained)} does meanwhile: clonometer {shlex.join(explain)}")
    first = f"C takes {short_median(each.base)}"
    numbers: dict[str, Any] = numbers_of(ranked[0][1]) if ranked else {"verdict": str(Direction.UNKNOWN)}
    woken = {name: change for name, change in reused.items() if change is not None}
    numbers |= {
        "base": each.base.workload,
        "languages": {name: change.numbers for name, change in ranked},
        "reused": {name: change.numbers for name, change in woken.items()},
        "creates": each.task.creates,
        "reasons": reasons,
        "longer_parts": parts,
        "tasks_per_launch": created,
        "explain": explain,
        "cells": list(dict.fromkeys([each.base.cell, *cells_of([*known.values(), *woken.values()])])),
    }
    head = task_head(each)
    shortest = [_clause(name, change, reasons.get(name) or parts.get(name, "")) for name, change in ranked[:1]]
    headline = headed(head, ["; ".join([first, *(shortest or clauses[:1])])])
    name, text = f"languages.{task_id(each)}", headed(head, [first, *clauses])
    return Finding(name, text, numbers, headline, _place(each, len(known) + len(apart)))


def _reused(tests: PairwiseTests, each: LanguageAnswers, name: str) -> Change[RunEstimate] | None:
    """How a language that uses again what ended compares with C, which wakes it; None where that cannot be known."""
    if name not in each.reused or each.woken is None:
        return None
    return tests.compare(each.rows[name], each.woken)


def _apart(each: LanguageAnswers, name: str, change: Change[RunEstimate] | None) -> str:
    """Say what a language takes that creates nothing, so that it is not taken for as quick as C."""
    language, took, thing = language_name(name), short_median(each.rows[name]), each.task.thing
    if name not in each.reused:
        return f"{language} takes {took}, but creates no task of the kernel"
    again = f"{language} takes {took}, but uses {thing} again that ended"
    if change is None or each.woken is None:
        return again
    if change.direction == Direction.UNKNOWN:
        return f"{again}: {in_doubt('from waking one in C', change)}"
    woken = f"to wake one C takes {short_median(each.woken)}"
    longer = language if change.direction == Direction.MORE else "C"
    return f"{again}: {woken}, and {longer} {change.upward.text} times as long"


def _explain(each: LanguageAnswers, ranked: Sequence[tuple[str, Change[RunEstimate]]]) -> tuple[str, list[str]]:
    """The language that takes most times as long, and the command that shows what it does meanwhile; empty: none."""
    for name, change in ranked:
        if change.direction == Direction.MORE and is_launch(change.other.family) and not each.changes:
            return name, ["explain", change.other.workload, "--vs", change.base.workload]
    return "", []


def _place(each: LanguageAnswers, compared: int) -> tuple[int, ...]:
    """What C has nothing to compare with comes last, then what only wakes a task, conditions, and what few can do."""
    creates = each.base is not None and each.task.creates
    return (each.base is None, not creates, task_id(each).count("."), -compared)


def created_by(each: LanguageAnswers) -> dict[str, int | None]:
    """How many tasks of the kernel a launch creates in each language, as counted; None where that is not sure."""
    counts = {name: row.tasks_created for name, row in each.rows.items()}
    return {name: None if count is None else count.per_launch for name, count in counts.items()}


def _creation(each: LanguageAnswers, created: Mapping[str, int | None]) -> Iterator[str]:
    """Say which languages create other tasks than is expected: what they take has then another reason."""
    expected = each.task.creates
    others = {name: count for name, count in created.items() if count is not None and count != expected}
    for count in sorted(set(others.values())) if expected is not None else ():
        names = [name for name, its in others.items() if its == count]
        verb = "creates" if len(names) == 1 else "create"
        what = f"{counted(count, 'task')} per launch" if count else "no task of the kernel"
        yield f"{listed([language_name(name) for name in names])} {verb} {what}"
    within = [language_name(name) for name, row in each.rows.items() if _is_within_a_thread(row)]
    if expected == 0 and each.base is not None and within:
        yield f"{listed(within)} {'does' if len(within) == 1 else 'do'} that within a thread, and no thread is woken"
    alike = [language_name(name) for name, count in created.items() if count == expected == 0]
    if each.base is None and alike:
        yield f"{listed(alike)} {'creates' if len(alike) == 1 else 'create'} no task of the kernel for it"


def _clause(name: str, change: Change[RunEstimate], *reasons: str) -> str:
    language = language_name(name)
    if change.direction == Direction.UNKNOWN:
        return in_doubt(f"between {language} and C", change)
    why = "; ".join(filter(None, reasons))
    because = f": {why}" if why else ""
    if change.direction == Direction.LESS:
        return f"C takes {change.upward.text} times as long as {language}"
    return f"{language} takes {change.upward.text} times as long{because}"


def _is_within_a_thread(row: RunEstimate) -> bool:
    """Whether no thread waited for another: the runtime's scheduler alone was at work."""
    return row.switches_per_launch is not None and row.switches_per_launch < _RARELY


def _longer_part(estimates: RunEstimates, change: Change[RunEstimate]) -> str:
    """Say whether most of the extra time passes before the new task's own code runs, or after; else nothing."""
    if change.direction != Direction.MORE:
        return ""
    whole_ns = _extra_ns(change.other, change.base)
    for stage, words in _BEGINS.items():
        other, base = (
            estimates.main(row.workload, estimates.changes(row), row.temperature, stage)
            for row in (change.other, change.base)
        )
        if other is None or base is None or whole_ns <= 0:
            continue
        share = _extra_ns(other, base) / whole_ns
        if share >= _MOSTLY:
            return f"most of the extra time passes before {words} runs"
        if share <= 1 - _MOSTLY:
            return f"most of the extra time passes after {words} has begun to run"
    return ""


def _extra_ns(other: RunEstimate, base: RunEstimate) -> float:
    return (other.median_ns or 0.0) - (base.median_ns or 0.0)


def reason_of(estimates: RunEstimates, workload: str) -> str:
    """Why a launch takes longer, by the line of the book that its driver names; empty where that says nothing."""
    line = estimates.about(workload).further.get("launch_path")
    name = workload.partition(".")[0]
    runtime = load_book().find(name.partition("_")[0])
    if not isinstance(line, str) or runtime is None:
        return ""
    version = toolchain_version(estimates, name)
    path = runtime.line_of(line, version)
    return "" if path is None else _in_words(path)


def toolchain_version(estimates: RunEstimates, name: str) -> str | None:
    """The version of the toolchain whose driver has a name; None where the run does not say."""
    drivers = estimates.document.catalogue.further.get("drivers", ())
    described = next((driver for driver in drivers if _get(driver, "name") == name), None)
    version = _get(_get(described, "toolchain"), "version")
    return version if isinstance(version, str) else None


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _in_words(path: LaunchPath) -> str:
    if path.reason:
        return path.reason
    helpers = [program for task in path.tasks for program in task.programs[:-1] if program != _COMMAND]
    if path.copies:
        return "it forks, which copies its memory map"
    if PROGRAM in [program for task in path.tasks for program in task.programs]:
        return "the runtime itself is executed anew"
    return f"{helpers[0]} is executed first" if helpers else ""


FINDERS = (Finder(languages, 5),)
