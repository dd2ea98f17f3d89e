"""How far each language is from C in doing the same, and why, as the book of launch paths has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import PROGRAM, LaunchPath
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of, numbers_of
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, headed, short_median
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series.languages import LanguageAnswers, answers_of
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import language_name

_WARM = "warm"
#: The last program is the command that was asked for.
_COMMAND = "true"


def languages(tests: PairwiseTests) -> Iterator[Finding]:
    """Say of each thing what every language takes for it: as times C, where C does the same."""
    for each in answers_of(tests.estimates):
        if each.temperature == _WARM and each.rows:
            yield _beside_c(tests, each) if each.base is not None else _alone(each)


def _id(each: LanguageAnswers) -> str:
    others = [str(value) for value in each.changes.values()]
    return ".".join(["languages", each.word, *others])


def _head(each: LanguageAnswers) -> str:
    row = next(iter(each.rows.values()))
    return f"{each.task.thing}, {condition(each.changes, each.temperature, row.condition.get('placement'))}"


def _alone(each: LanguageAnswers) -> Finding:
    """Say what each language takes where C has nothing to compare with."""
    ranked = sorted(each.rows.items(), key=lambda item: item[1].median_ns or 0.0)
    clauses = [f"{language_name(name)} takes {short_median(row)}" for name, row in ranked]
    numbers = {
        "medians_ns": {name: row.median_ns for name, row in ranked},
        "cells": [row.cell for _, row in ranked],
        "verdict": str(Direction.UNKNOWN),
    }
    return Finding(_id(each), headed(_head(each), clauses), numbers, headed(_head(each), ["; ".join(clauses[:2])]))


def _beside_c(tests: PairwiseTests, each: LanguageAnswers) -> Finding:
    assert each.base is not None  # Whoever has none is told alone.
    compared = {name: tests.compare(row, each.base) for name, row in each.rows.items()}
    known = {name: change for name, change in compared.items() if change is not None}
    ranked = sorted(known.items(), key=lambda item: -item[1].size)
    reasons = {name: reason for name, _ in ranked if (reason := reason_of(tests.estimates, each.rows[name].workload))}
    clauses = [_clause(name, change, reasons.get(name, "")) for name, change in ranked]
    first = f"C takes {short_median(each.base)}"
    numbers: dict[str, Any] = numbers_of(ranked[0][1]) if ranked else {}
    numbers |= {
        "base": each.base.workload,
        "languages": {name: change.numbers for name, change in ranked},
        "reasons": reasons,
        "cells": list(dict.fromkeys([each.base.cell, *cells_of(known.values())])),
    }
    head = _head(each)
    return Finding(
        _id(each), headed(head, [first, *clauses]), numbers, headed(head, ["; ".join([first, *clauses[:1]])])
    )


def _clause(name: str, change: Change[RunEstimate], reason: str) -> str:
    language = language_name(name)
    if change.direction == Direction.UNKNOWN:
        return f"cannot tell a difference between {language} and C ({change.aside})"
    because = f": {reason}" if reason else ""
    if change.direction == Direction.LESS:
        return f"C takes {change.upward.text} times as long as {language}"
    return f"{language} takes {change.upward.text} times as long{because}"


def reason_of(estimates: RunEstimates, workload: str) -> str:
    """Why a launch takes longer, by the line of the book that its driver names; empty where that says nothing."""
    line = estimates.about(workload).further.get("launch_path")
    name = workload.partition(".")[0]
    runtime = load_book().find(name.partition("_")[0])
    if not isinstance(line, str) or runtime is None:
        return ""
    version = _version(estimates, name)
    paths = [path for path in runtime.paths if path.name == line and (version is None or path.is_of(version))]
    return _in_words(paths[0]) if paths else ""


def _version(estimates: RunEstimates, name: str) -> str | None:
    drivers = estimates.document.catalogue.further.get("drivers", ())
    described = next((driver for driver in drivers if _get(driver, "name") == name), None)
    version = _get(_get(described, "toolchain"), "version")
    return version if isinstance(version, str) else None


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _in_words(path: LaunchPath) -> str:
    helpers = [program for task in path.tasks for program in task.programs[:-1] if program != _COMMAND]
    if path.copies:
        return "it forks, which copies its memory map"
    if PROGRAM in [program for task in path.tasks for program in task.programs]:
        return "the runtime itself is executed anew"
    return f"{helpers[0]} is executed first" if helpers else ""


FINDERS = (Finder(languages, 5),)
