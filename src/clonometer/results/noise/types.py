"""What measuring a machine's noise hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import Estimate

NOISE_SCHEMA = 1


@dataclass(frozen=True)
class AgainstItself:
    """Checks of A against A: how many there were, how many alarmed, and the chance of an alarm with its interval.

    ``rate_low`` and ``rate_high`` are the ends of the exact 95% interval. ``rows`` names each row that alarmed.
    """

    checks: int
    alarms: int
    rate_low: float
    rate_high: float
    rows: Sequence[str]


@dataclass(frozen=True)
class NoiseRow:
    """The noise of one stage of one cell at one observed placement.

    Attributes
    ----------
    estimate
        Of the first half of the first round.
    spread
        How far process medians scatter, as a share: 1.4826 times their median absolute deviation, on the logarithm.
    between
        The same of whole rounds, beyond what the spread of processes explains; None with fewer than three rounds.
    detectable
        The smallest slow-down that one check would find in 95% of cases, as a share; None where it would find none.
    """

    estimate: Estimate
    spread: float
    between: float | None
    detectable: float | None


@dataclass(frozen=True)
class Noise:
    """The noise of a machine under a plan.

    Attributes
    ----------
    plan, rounds
        What was measured, and how often.
    interleaved
        Checks of one half of a round against the other, whose processes were started in turn.
    in_a_row
        Checks of a half against a half of the round before, as runs of different moments are compared; None where there
        was but one round.
    rows
        In the order of the plan.
    max_regression, error_rate, n_tests
        As in a check.
    """

    plan: str
    rounds: int
    interleaved: AgainstItself
    in_a_row: AgainstItself | None
    rows: Sequence[NoiseRow]
    max_regression: float
    error_rate: float
    n_tests: int

    def count_detectable(self, change: float) -> int:
        """The number of rows in which a slow-down of ``change`` would be found."""
        return sum(row.detectable is not None and row.detectable <= change for row in self.rows)

    @property
    def n_first(self) -> int:
        """The number of rows of first launches, which are suspected at most."""
        return sum(row.estimate.is_first_launch for row in self.rows)
