"""The answer in two sentences: what the mechanisms take side by side, and what the largest of the conditions does."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.families.same_image import FORK, PTHREAD
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.wording import MOST_WORDS, n_words, sentence, short_median
from clonometer.results.first.effects import AxisEffect, alternatives, main_rows, plain_rows, stated_effects
from clonometer.results.first.words import (
    called,
    condition_words,
    how_long,
    is_launch_row,
    named,
    short_of_end,
    verb,
    with_value,
)
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import CONTEST, Finding
from clonometer.verdicts import Word
from clonometer.words import mechanism_name

MOST_SENTENCES = 2
#: What says how a curve was fitted, or what the instrument costs, answers nobody's first question; choices are told in
#: other words.
_NOT_AN_ANSWER = ("fit.", "floor", "variants.", "choice.")


def answer(tests: PairwiseTests, findings: Sequence[Finding]) -> list[Finding]:
    """Answer in at most two sentences.

    Findings that are the answer say so themselves. Otherwise launches are told from call to end: the first mechanism
    beside its rival, then the largest effect of what was varied, or a new program. What launches nothing is told by
    the first findings that state a difference.
    """
    answering = answers_of(findings)
    if answering:
        return [_first_sentences(finding) for finding in answering[:MOST_SENTENCES]]
    launches = [row for row in plain_rows(tests.estimates) if is_launch_row(row)]
    listed = _of_launches(tests, launches) if launches else []
    if len(listed) < MOST_SENTENCES:
        listed += _steps(findings) if launches else _of_others(tests, findings)
    return listed[:MOST_SENTENCES]


def answers_of(findings: Sequence[Finding]) -> list[Finding]:
    """Those that say what the run was made to find out, in their order."""
    placed = [(finding.answers, finding) for finding in findings if finding.answers is not None]
    return [finding for _, finding in sorted(placed, key=lambda each: tuple(each[0]))]


def contest(tests: PairwiseTests) -> Change[RunEstimate] | None:
    """The comparison that is told first: fork with a thread, else the first mechanism with the fastest other."""
    pairs = (_rivals(rows) for rows in alternatives(tests.estimates))
    return next((comparison for pair in pairs if (comparison := tests.compare(*pair)) is not None), None)


def first_question(estimates: RunEstimates) -> tuple[RunEstimate, RunEstimate] | None:
    """The rows of the comparison that is told first, where no figure chose them: a question asked before measuring.

    Where nothing but two values of an axis was measured they are the question.
    """
    for rows in alternatives(estimates):
        subject, rival = _rivals(rows)
        return (subject, rival) if len(rows) == 2 or rival.workload == PTHREAD else None
    rows = main_rows(estimates)
    if len(rows) == 2 and rows[0].workload == rows[1].workload and rows[0].stage == rows[1].stage:
        base, other = sorted(rows, key=lambda row: len(estimates.changes(row)))
        return other, base
    return None


def asked(tests: PairwiseTests) -> Change[RunEstimate] | None:
    """The question that was asked first, as it stands."""
    return None if tests.asked is None else tests.compare(*tests.asked)


def _rivals(rows: Sequence[RunEstimate]) -> tuple[RunEstimate, RunEstimate]:
    subject, *others = sorted(rows, key=lambda row: row.workload != FORK)
    wanted = PTHREAD if subject.workload == FORK else None
    return subject, min(others, key=lambda row: (row.workload != wanted, row.median_ns or 0.0))


def _of_launches(tests: PairwiseTests, launches: Sequence[RunEstimate]) -> list[Finding]:
    compared = contest(tests)
    first = _alone(tests, launches[0]) if compared is None else _contest(tests, compared)
    subject = launches[0] if compared is None else compared.other
    listed = [first]
    listed += [_effect(tests, largest) for largest in stated_effects(tests)[:1]]
    others = [row for row in plain_rows(tests.estimates) if row.family != subject.family]
    alike = [row for row in others if row.family == others[0].family]
    cheapest = sorted(alike, key=lambda row: row.median_ns or 0.0)
    return [*listed, *(_alone(tests, row) for row in cheapest[:1])]


def _contest(tests: PairwiseTests, compared: Change[RunEstimate]) -> Finding:
    """Say who costs how many times as much; how much each takes stands in the table."""
    where = condition_words(tests.estimates.changes(compared.other))
    head = f"{where}, " if where else ""
    dear, cheap = (called(row) for row in compared.upward.sides)
    end = short_of_end(compared.other)
    if compared.word is Word.OPEN:
        text = (
            f"whether {called(compared.other)} costs more than {called(compared.base)}{end} is open ({compared.aside})"
        )
    elif compared.word is Word.LIKELY:
        text = f"{dear} likely costs more than {cheap}{end} ({compared.upward.aside})"
    else:
        times = compared.upward.text.partition(" (")[0]
        text = f"{dear} costs {times} times {cheap}{end}: {compared.least_text}"
    return Finding(CONTEST, sentence(head + text), numbers_of(compared))


def _alone(tests: PairwiseTests, row: RunEstimate) -> Finding:
    """Say what a mechanism takes, and its first launch where later ones were measured as well."""
    text = f"{named(row)} {verb(row)} {short_median(row)} {how_long(row)}"
    where = condition_words(tests.estimates.changes(row))
    numbers: dict[str, object] = {
        "median_ns": row.median_ns,
        "value": row.value,
        "stage": row.stage,
        "cells": [row.cell],
    }
    text = f"{where}, {text}" if where else text
    first = tests.estimates.main(row.workload, tests.estimates.changes(row), "cold", row.stage)
    if row.temperature == "warm" and first is not None and is_launch_row(row):
        text += f"; the first launch in a fresh process takes {short_median(first)}"
        numbers |= {"first_ns": first.median_ns, "cells": [row.cell, first.cell]}
    elif row.is_first_launch and is_launch_row(row):
        text += ", as the first launch in a fresh process"
    return Finding(f"answer.{row.workload}", sentence(text), numbers)


def _effect(tests: PairwiseTests, effect: AxisEffect) -> Finding:
    compared = effect.comparison
    row, _ = compared.upward.sides
    value, other = (effect.value, effect.base) if row is compared.other else (effect.base, effect.value)
    others = tests.estimates.changes(row, effect.axis)
    name = mechanism_name(row.workload)
    where = condition_words({effect.axis: value, **others})
    against = f" as with {with_value(effect.axis, other)}" if other else ""
    times, _, ends = compared.upward.text.partition(" (")
    within = f" ({ends}" if ends else ""
    text = f"{where}, {name} {verb(row)} {times} times as {'long' if row.is_time else 'much'}{within}{against}"
    numbers = numbers_of(compared) | {"axis": effect.axis}
    return Finding(f"answer.effect.{effect.axis}.{row.workload}", sentence(text + short_of_end(row)), numbers)


def _steps(findings: Sequence[Finding]) -> list[Finding]:
    """The steps of ladders that change most."""
    steps = [finding for finding in findings if finding.id.startswith("step.") and finding.states_difference]
    steps.sort(key=lambda finding: -abs(finding.numbers["difference_ns"]))
    return [Finding(f"answer.{each.id}", each.headline or each.sentence, each.numbers) for each in steps]


def _of_others(tests: PairwiseTests, findings: Sequence[Finding]) -> list[Finding]:
    """What was found of anything else, by first sentences; then choices; then the first figures.

    What could not be told comes after what could, and only where it is short enough to be read.
    """
    candidates = [finding for finding in findings if not finding.id.startswith(_NOT_AN_ANSWER)]
    stating = [_first_sentence(finding) for finding in candidates if finding.states_difference]
    unsure = [_first_sentence(finding) for finding in candidates if not finding.states_difference]
    sure = [_effect(tests, effect) for effect in stated_effects(tests)]
    # Of what one axis does to a workload a sentence is enough, whatever else was varied.
    chosen = list({finding.id: finding for finding in reversed(sure)}.values())[::-1]
    short = [finding for finding in [*stating, *chosen, *unsure] if n_words(finding.sentence) <= MOST_WORDS]
    return [*short, *(_alone(tests, row) for row in plain_rows(tests.estimates))]


def _first_sentences(finding: Finding) -> Finding:
    return Finding(f"answer.{finding.id}", finding.headline or finding.sentence, finding.numbers)


def _first_sentence(finding: Finding) -> Finding:
    text = (finding.headline or finding.sentence).split(". ")[0].removesuffix(".")
    return Finding(f"answer.{finding.id}", f"{text}.", finding.numbers)
