"""All that the first screen says of a run, made of the same comparisons as its findings."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.first.advice import advice
from clonometer.results.first.answer import answer, asked
from clonometer.results.first.following import AS_PAGE, next_command
from clonometer.results.first.questions import open_questions
from clonometer.results.first.reasons import reasons
from clonometer.results.types import Finding, FirstScreen


def first_screen(tests: PairwiseTests, findings: Sequence[Finding]) -> FirstScreen:
    """Say what a run is about; what disturbs it is added later, when its warnings are known.

    What it compares counts among the comparisons of the run's findings.
    """
    if tests.estimates.is_paired:
        # Two sides that were started in turn: their verdicts are the answer, and nothing else is said of them.
        return FirstScreen(answer=tuple(findings[:2]), next=AS_PAGE)
    answered = answer(tests, findings)
    return FirstScreen(
        answer=tuple(answered),
        reasons=tuple(reasons(tests, findings, answered)),
        advice=tuple(advice(tests)),
        open=tuple(open_questions(tests)),
        next=next_command(tests),
        asked=asked(tests),
    )
