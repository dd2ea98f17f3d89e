"""Looking at a run while it goes on: what can be said so far, and whether its question is decided."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from clonometer.errors import ClonometerError
from clonometer.results.schedule.looks import LOOK_RATE, Looks
from clonometer.stats.multiplicity import score
from clonometer.stats.verdict import ERROR_RATE, LAYOUT
from clonometer.verdicts import Word

if TYPE_CHECKING:
    from clonometer.results.change import Change
    from clonometer.results.rows.run_estimates import RunEstimate
    from clonometer.results.schedule.stopping import TargetScheduler
    from clonometer.results.types import Results
    from clonometer.runfile import RunSoFar
    from clonometer.runner.interfaces import Progress

#: Beyond so many samples an answer takes too long, and too much memory, to be made on the way.
_MOST_SAMPLES = 2_000_000


class RunWatch:
    """Computes the answer now and then, shows it, and tells the scheduler when the question is decided.

    Each look is stricter than the answer at the end: `clonometer.results.schedule.looks`.
    """

    def __init__(self, progress: Progress, scheduler: TargetScheduler, name: str) -> None:
        self._progress = progress
        self._scheduler = scheduler
        self._name = name
        self._looks = Looks()
        #: When it was first seen that the question is decided, in seconds of measuring; None: it is not.
        self.decided_after_s: float | None = None
        self._is_over = False

    def __call__(self, elapsed_s: float, so_far: Callable[[], RunSoFar]) -> None:
        """Look, if it is time."""
        if not self._looks.is_due(elapsed_s):
            return
        began_s = time.monotonic()
        results = self._answer(so_far())
        if results is not None:
            self._judge(results, elapsed_s)
            self._progress.answered(results, elapsed_s)
        self._looks.looked(elapsed_s, time.monotonic() - began_s)

    def _answer(self, run: RunSoFar) -> Results | None:
        from clonometer.results.summary import summarize

        if sum(block.rows for block in run.document.blocks) > _MOST_SAMPLES:
            return None
        try:
            return summarize(run, self._name, error_rate=LOOK_RATE)
        except ClonometerError:
            # The file has what was measured; its reader says what is wrong with it.
            return None

    def _judge(self, results: Results, elapsed_s: float) -> None:
        asked = results.first.asked
        if asked is None or self._is_over:
            return
        if asked.word is Word.SURE:
            self.decided_after_s = elapsed_s
        self._is_over = asked.word is Word.SURE or _is_too_close(asked)
        if self._is_over:
            self._scheduler.decide()


def _is_too_close(change: Change[RunEstimate]) -> bool:
    """Whether all that the ratio may be is less than layout alone may do: no number of processes would tell it."""
    most = math.exp(score(ERROR_RATE) * math.sqrt(2) * LAYOUT)
    return change.interval is not None and 1 / most < change.interval[0] and change.interval[1] < most
