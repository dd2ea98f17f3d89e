"""What to do: the cheaper of two things that were both measured, with both figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clonometer.families import axis as axis_of
from clonometer.families import family, workload_words
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.wording import sentence, short_median
from clonometer.results.first.effects import AxisEffect, alternatives, plain_rows, stated_effects
from clonometer.results.first.words import condition_words, is_launch_row, short_of_end
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import mechanism_name

MOST_ADVICE = 3
#: What saves less than this share is no advice.
_LEAST_GAIN = 0.1


@dataclass(frozen=True)
class _Choice:
    """Something to do: what it is about, how it is said, and the dearer side against the cheaper one.

    ``text`` has places for how many ``times`` as much the dearer side takes, and for what the ``cheap`` and the
    ``dear`` one take; so has ``brief``, which is meant for one line.
    """

    id: str
    text: str
    brief: str
    compared: Change[RunEstimate]


def advice(tests: PairwiseTests) -> list[Finding]:
    """Give at most three pieces of advice, what saves most first.

    Each rests on a difference that is sure, and whose interval leaves a tenth at least to save: another mechanism under
    the same condition, another value of one axis, workers that are woken instead of launched, or a program that
    launches again.
    """
    choices = sorted([*_mechanisms(tests), *_conditions(tests)], key=lambda choice: -choice.compared.size)
    kept: dict[str, _Choice] = {}
    for choice in [*_workers(tests), *choices, *_later_launches(tests)]:
        if (choice.compared.upward.low or 0.0) >= 1 + _LEAST_GAIN:
            kept.setdefault(choice.id, choice)
    return [_advice_finding(choice) for choice in list(kept.values())[:MOST_ADVICE]]


def _advice_finding(choice: _Choice) -> Finding:
    compared = choice.compared
    dear, cheap = compared.upward.sides
    ratio = compared.upward.text
    figures = {"cheap": short_median(cheap), "dear": short_median(dear)}
    texts = [
        choice.text.format(times=ratio, **figures),
        choice.brief.format(times=ratio.partition(" (")[0], **figures),
    ]
    numbers = numbers_of(compared) | {"cells": [cheap.cell, dear.cell]}
    return Finding(f"do.{choice.id}", sentence(texts[0]), numbers, sentence(texts[1]))


def _mechanisms(tests: PairwiseTests) -> Iterator[_Choice]:
    """The cheapest mechanism against the dearest, under each condition; the condition that is worst counts."""
    for rows in alternatives(tests.estimates):
        ranked = sorted(rows, key=lambda row: row.median_ns or 0.0)
        best = next((row for row in ranked if not workload_words(row.workload).raw), ranked[-1])
        compared = tests.compare(ranked[-1], best) if best is not ranked[-1] else None
        if compared is not None and compared.direction != Direction.UNKNOWN:
            cheap, dear = (row.workload for row in (best, ranked[-1]))
            advised = workload_words(cheap).substitute or mechanism_name(cheap)
            where = condition_words(tests.estimates.changes(rows[0]))
            text = f"{where + ', ' if where else ''}{advised} is {{times}} times cheaper than {mechanism_name(dear)}"
            until = short_of_end(best)
            full = f"{text}{until} ({{cheap}}, not {{dear}})"
            yield _Choice(f"mechanism.{best.family}", full, text + until, compared)


def _conditions(tests: PairwiseTests) -> Iterator[_Choice]:
    for effect in stated_effects(tests):
        text = _change(effect)
        if text:
            name = mechanism_name(effect.comparison.other.workload)
            dear = effect.value if effect.cheaper == effect.base else effect.base
            others = tests.estimates.changes(effect.comparison.other, effect.axis)
            where = condition_words({effect.axis: dear, **others})
            until = short_of_end(effect.comparison.other)
            full = f"{text}: {where}, {name} takes {{dear}}{until}, {{times}} times as much"
            brief = f"{text}: {name} takes {{cheap}} instead of {{dear}}{until}"
            yield _Choice(effect.axis, full, brief, effect.comparison)


def _change(effect: AxisEffect) -> str:
    """What to do about an axis; empty where its cheaper value is nothing that one could choose."""
    axis = axis_of(effect.axis)
    if isinstance(effect.cheaper, int):
        return axis.fewer if effect.cheaper == effect.base else ""
    return axis.advice.get(effect.cheaper, "")


def _workers(tests: PairwiseTests) -> Iterator[_Choice]:
    """The cheapest way to wake a worker that exists against the cheapest launch."""
    plain = plain_rows(tests.estimates)
    launches = [row for row in plain if is_launch_row(row)]
    waking = [row for row in plain if family(row.family).advice]
    if launches and waking:
        launch, wake = (min(rows, key=lambda row: row.median_ns or 0.0) for rows in (launches, waking))
        compared = tests.compare(launch, wake)
        if compared is not None and compared.direction == Direction.MORE:
            name = mechanism_name(launch.workload)
            text = f"{family(wake.family).advice}: {{cheap}}, {{times}} times cheaper than {name}"
            yield _Choice("workers", text, text, compared)


def _later_launches(tests: PairwiseTests) -> Iterator[_Choice]:
    """The first launch of a program against later ones."""
    for row in plain_rows(tests.estimates):
        if not is_launch_row(row) or row.temperature != "warm":
            continue
        first = tests.estimates.main(row.workload, tests.estimates.changes(row), "cold", row.stage)
        compared = None if first is None else tests.compare(first, row)
        if compared is not None and compared.direction == Direction.MORE:
            name = mechanism_name(row.workload)
            text = f"launch from a long-running process: {name} takes {{cheap}} instead of {{dear}}"
            yield _Choice(
                "first_launch",
                f"{text} for the first launch in a fresh process ({{times}} times as much)",
                text,
                compared,
            )
            return
