"""How further versions of a language differ from its first one, which has its plain name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clonometer.launch_paths.versions import numbers
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.languages import toolchain_version
from clonometer.results.findings.wording import headed
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series.languages import LanguageAnswers, answers_of
from clonometer.results.types import Finding
from clonometer.units import format_number
from clonometer.verdicts import Direction
from clonometer.words import axis_words, counted, language_name

_WARM = "warm"
#: A short sentence has so many differences, the largest ones.
_MOST_NAMED = 3
#: From this ratio on it is said as a multiple.
_MULTIPLE = 2.0


def versions(tests: PairwiseTests) -> Iterator[Finding]:
    """Say of each further version of a language what takes longer or less long with it: later launches alone."""
    compared: dict[str, dict[str, Change[RunEstimate]]] = {}
    for each in answers_of(tests.estimates):
        if each.temperature == _WARM and not each.is_instrument:
            for name, row in each.rows.items():
                first = each.rows.get(name.partition("_")[0])
                change = tests.compare(row, first) if first is not None and first is not row else None
                if change is not None:
                    compared.setdefault(name, {})[_thing(each)] = change
    for name, changes in compared.items():
        yield _beside_first(tests.estimates, name, changes)


def _thing(each: LanguageAnswers) -> str:
    condition = ", ".join(axis_words(*item) for item in each.changes.items())
    return f"{each.task.head} ({condition})" if condition else each.task.head


def _beside_first(estimates: RunEstimates, name: str, changes: Mapping[str, Change[RunEstimate]]) -> Finding:
    sure = {thing: change for thing, change in changes.items() if change.direction != Direction.UNKNOWN}
    ranked = sorted(sure.items(), key=lambda item: -item[1].size)
    head = f"{language_name(name)} beside {_first_name(estimates, name.partition('_')[0])}"
    clauses = [f"{thing} takes {change.text} times as long" for thing, change in ranked]
    if len(changes) > len(ranked):
        clauses.append(
            "a difference is open" + (f" in {counted(len(changes) - len(ranked), 'other')}" if ranked else "")
        )
    short = [f"{thing} {_how_much(change)}" for thing, change in ranked[:_MOST_NAMED]]
    short += [f"{len(ranked) - _MOST_NAMED} more"] if len(ranked) > _MOST_NAMED else []
    about = {
        "beside": head,
        "changes": {thing: change.numbers for thing, change in changes.items()},
        "cells": cells_of(changes.values()),
        "verdict": str(ranked[0][1].direction if ranked else Direction.UNKNOWN),
    }
    headline = headed(head, ["; ".join(short) or "a difference is open"])
    return Finding(f"versions.{name}", headed(head, clauses), about, headline)


def _first_name(estimates: RunEstimates, language: str) -> str:
    """The first two numbers of its version; its name where that is not known."""
    version = toolchain_version(estimates, language)
    return ".".join(map(str, numbers(version)[:2])) if version else language_name(language)


def _how_much(change: Change[RunEstimate]) -> str:
    """A ratio in short, by both ends of its interval: a share less or more, or a multiple."""
    value, ends = change.value or 1.0, change.interval
    low, high = (value, value) if ends is None else ends
    if value >= _MULTIPLE:
        return f"{format_number(value, low, high)} times"
    least, most = sorted(abs(end - 1) for end in (low, high))
    span = f"{least:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"{100 * least:.0f} to {most:.0%}"
    return f"{span} {'less' if change.direction == Direction.LESS else 'more'}"


FINDERS = (Finder(versions, 5),)
