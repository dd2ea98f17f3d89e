from __future__ import annotations

import math

import numpy as np
import pytest

from clonometer.model.later import UNKNOWN_SHARE, RewrittenShare, later_cost
from clonometer.model.types import NINE_IN_TEN, CostRange


def cost(median_ns: float, deviation: float) -> CostRange:
    ratio = math.exp(NINE_IN_TEN * deviation)
    return CostRange(median_ns / ratio, median_ns, median_ns * ratio)


def known(share: float) -> RewrittenShare:
    return RewrittenShare(share, share, share, "given")


FIRST, UNWRITTEN = CostRange(90.0, 100.0, 115.0), CostRange(60.0, 70.0, 80.0)


@pytest.mark.parametrize(
    ("share", "low_ns", "median_ns", "high_ns"), [(1.0, 90, 100, 115), (0.0, 60, 70, 80), (0.5, 75, 85, 97.5)]
)
def test_a_known_share_mixes_both_times(share: float, low_ns: float, median_ns: float, high_ns: float) -> None:
    assert later_cost(FIRST, UNWRITTEN, known(share)) == CostRange(low_ns, median_ns, high_ns)


def test_an_unknown_share_spans_both_and_what_waits_longest_is_the_headline() -> None:
    assert later_cost(FIRST, UNWRITTEN, UNKNOWN_SHARE) == CostRange(60, 100, 115)


def test_what_is_known_narrows_the_span() -> None:
    narrowed = later_cost(FIRST, UNWRITTEN, RewrittenShare(0.2, 0.3, 0.4, "measured"))
    assert (narrowed.low_ns, narrowed.median_ns, narrowed.high_ns) == pytest.approx((66, 79, 94))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("deviation", [0.05, 0.2])
def test_simulated_forks_lie_in_the_span_whatever_was_rewritten(share: float, deviation: float) -> None:
    first, unwritten = cost(100.0, deviation), cost(80.0, deviation)
    forks = (share * 100 + (1 - share) * 80) * np.exp(np.random.default_rng(3).normal(0, deviation, 20_000))
    for known_share, least, most in ((UNKNOWN_SHARE, 0.9, 1.0), (known(share), 0.89, 0.91)):
        span = later_cost(first, unwritten, known_share)
        assert least <= np.mean((span.low_ns <= forks) & (forks <= span.high_ns)) <= most


def test_a_dearer_unwritten_fork_is_still_within() -> None:
    """What does not depend on pages has no difference: the fit's noise may turn the two round."""
    first, unwritten = cost(50.0, 0.1), cost(51.0, 0.1)
    span = later_cost(first, unwritten, UNKNOWN_SHARE)
    assert (span.low_ns, span.median_ns, span.high_ns) == (first.low_ns, 50.0, unwritten.high_ns)
