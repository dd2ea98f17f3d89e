"""What a runtime does besides launching: its collector's pauses, an event loop that stands still, no steady level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.families import family
from clonometer.families.types import LOOP_BLOCKED
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.languages import task_head, task_id
from clonometer.results.findings.wording import condition, headed, listed, short_median
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series.languages import LanguageAnswers, answers_of
from clonometer.results.types import CollectorPauses, Finding, SteadyState
from clonometer.units import format_duration
from clonometer.words import axis_words, counted, language_name

_WARM = "warm"
#: More than so many things are not named in a finding.
_MOST_THINGS = 3
_Named = tuple[LanguageAnswers, str, RunEstimate]


def collectors(tests: PairwiseTests) -> Iterator[Finding]:
    """Say of each thing whether pauses of the collector make its slowest launches, then where there was none."""
    quiet: dict[str, list[RunEstimate]] = {}
    paused: set[str] = set()
    for each in answers_of(tests.estimates):
        known = {name: row.pauses for name, row in each.rows.items() if row.pauses is not None}
        recorded = {name: pauses for name, pauses in known.items() if pauses.paused or pauses.collections}
        paused |= recorded.keys()
        for name in known.keys() - recorded.keys():
            quiet.setdefault(name, []).append(each.rows[name])
        if recorded:
            yield _paused(each, recorded)
    never = {name: rows for name, rows in quiet.items() if name not in paused}
    if never:
        yield _never_paused(tests.estimates, never)


def _paused(each: LanguageAnswers, recorded: Mapping[str, CollectorPauses]) -> Finding:
    texts = [_pauses_text(language_name(name), pauses) for name, pauses in recorded.items()]
    numbers: dict[str, Any] = {
        "cells": [each.rows[name].cell for name in recorded],
        "tail_by_collector": {name: pauses.makes_tail for name, pauses in recorded.items()},
        "launches": {name: pauses.launches for name, pauses in recorded.items()},
        "paused": {name: pauses.paused for name, pauses in recorded.items()},
        "slowest": {name: pauses.slowest for name, pauses in recorded.items()},
        "slowest_by_pause": {name: pauses.slowest_by_pause for name, pauses in recorded.items()},
    }
    return Finding(f"collector.{task_id(each)}", headed(task_head(each), texts), numbers)


def _pauses_text(language: str, pauses: CollectorPauses) -> str:
    if not pauses.paused:
        ran = counted(int(pauses.collections or 0), "time")
        return f"{language}'s collector ran {ran}, but paused no launch for as long as the runtime can tell"
    length = format_duration(pauses.pause_ns or 0.0)
    slowest = f"{language}'s slowest {pauses.share:.0%}"
    if pauses.makes_tail:
        by_pause = f"{pauses.slowest_by_pause} of {pauses.slowest}"
        return f"the collector makes {slowest}: {by_pause} would be faster without its pause (median {length})"
    with_pause = f"{pauses.slowest_paused} of {pauses.slowest} contain a pause"
    return f"the collector does not make {slowest}: {with_pause}, of all launches {pauses.paused} of {pauses.launches}"


def _never_paused(estimates: RunEstimates, never: Mapping[str, Sequence[RunEstimate]]) -> Finding:
    names = listed([language_name(name) for name in never])
    every = [row for rows in never.values() for row in rows]
    numbers: dict[str, Any] = {
        "launches": {name: sum(row.n_samples for row in rows) for name, rows in never.items()},
        "cells": [row.cell for row in every],
    }
    text = headed(_shared_condition(estimates, every), [f"the collector paused no launch of {names}"])
    return Finding("collector.none", text, numbers)


def _shared_condition(estimates: RunEstimates, rows: Sequence[RunEstimate]) -> str:
    """The condition that all rows have."""
    first, *others = [estimates.changes(row) for row in rows]
    shared = {axis: value for axis, value in first.items() if all(each.get(axis) == value for each in others)}
    return condition(shared, _WARM)


def steady_levels(tests: PairwiseTests) -> Iterator[Finding]:
    """Say for which languages what they take never came to a steady level, and where too little was measured."""
    rows = [
        (each, name, row)
        for each in answers_of(tests.estimates)
        for name, row in each.rows.items()
        if each.temperature == _WARM
    ]
    doubted = [
        (each, name, row, row.steady) for each, name, row in rows if row.steady is not None and row.steady.is_in_doubt
    ]
    judged = [row for _, _, row in rows if row.steady is not None]
    short = [(each, name, row) for each, name, row in rows if row.steady is None]
    if not rows:
        return
    things: dict[str, list[str]] = {}
    for each, name, _, steady in doubted:
        things.setdefault(name, []).append(f"{_thing(each)} ({_share(steady)})")
    texts = [f"{language_name(name)} has no steady level in {listed(its)}" for name, its in things.items()]
    if judged and not texts:
        texts = [f"no language changed its level late in a quarter of its processes, in {counted(len(judged), 'cell')}"]
    texts += [f"too few launches to tell: {text}" for text in _too_short(short)]
    numbers: dict[str, Any] = {
        "never_steady": {row.cell: steady.never for _, _, row, steady in doubted},
        "not_judged": [row.cell for _, _, row in short],
        "cells": [row.cell for _, _, row in rows],
    }
    text = headed(_shared_condition(tests.estimates, [row for _, _, row in rows]), texts)
    yield Finding("steady_level", text, numbers)


def _thing(each: LanguageAnswers) -> str:
    return ", ".join([each.task.thing, *(axis_words(*item) for item in each.changes.items())])


def _share(steady: SteadyState) -> str:
    return f"{steady.never} of {steady.processes} processes"


def _too_short(short: list[_Named]) -> Iterator[str]:
    """A sentence a thing, for one of all of them would be too long to read; of many things only how many cells."""
    things: dict[str, list[str]] = {}
    for each, name, _ in short:
        things.setdefault(_thing(each), []).append(language_name(name))
    if len(things) > _MOST_THINGS:
        yield counted(len(short), "cell")
        return
    for thing, names in things.items():
        yield f"{thing} in {listed(names)}"


def event_loops(tests: PairwiseTests) -> Iterator[Finding]:
    """Say how long an event loop stands still for a command."""
    for row in tests.estimates.rows:
        if row.quantity == LOOP_BLOCKED and row.temperature == _WARM and row.median_ns is not None:
            finding = _standing_still(tests.estimates, row)
            if finding is not None:
                yield finding


def _standing_still(estimates: RunEstimates, blocked: RunEstimate) -> Finding | None:
    quantities = {task.quantity for task in family(blocked.family).language_tasks.values()}
    whole = next((row for name in quantities if (row := estimates.find(blocked.cell, name)) is not None), None)
    if whole is None or not whole.median_ns or blocked.median_ns is None:
        return None
    share = blocked.median_ns / whole.median_ns
    head = f"{blocked.workload}, {condition(estimates.changes(blocked), None, blocked.condition.get('placement'))}"
    text = f"the event loop stands still for {short_median(blocked)} of the {short_median(whole)} that it takes"
    numbers: dict[str, Any] = {
        "blocked_ns": blocked.median_ns,
        "reaped_ns": whole.median_ns,
        "share": share,
        "cells": [blocked.cell],
    }
    return Finding(f"event_loop.{blocked.cell}", headed(head, [text]), numbers)


FINDERS = (Finder(collectors, 6), Finder(steady_levels, 7), Finder(event_loops, 8))
