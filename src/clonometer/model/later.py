"""A later fork: some memory was written to again since the last one, and how much cannot be seen from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from clonometer.model.types import CostRange
from clonometer.records import Ge, Le, OneOf

PageShare = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True)
class RewrittenShare:
    """The share of the pages that is written to between two forks, as far as it is known."""

    low: PageShare
    likely: PageShare
    high: PageShare
    source: Annotated[
        str,
        OneOf(("unknown", "given", "measured", "touched")),
        "touched: pages read or written, so that the share is an upper bound.",
    ]

    def fault(self) -> str | None:
        """Say what contradicts itself; None where nothing does."""
        return None if self.low <= self.likely <= self.high else "has a share outside its own bounds"


#: From nothing to everything. The likely one is everything: the headline promises nothing better.
UNKNOWN_SHARE = RewrittenShare(0.0, 1.0, 1.0, "unknown")


def later_cost(first: CostRange, unwritten: CostRange, share: RewrittenShare) -> CostRange:
    """Predict a later fork, of which a share of the pages was rewritten.

    Notes
    -----
    Each page costs what it costs in the one state or in the other, so that a share mixes both times. Where the share is
    a span, the interval reaches from the low end of its one end to the high end of the other: it holds nine in ten
    forks at either, and more in between.

    Examples
    --------
    >>> first, unwritten = CostRange(90, 100, 110), CostRange(60, 70, 80)
    >>> later_cost(first, unwritten, UNKNOWN_SHARE)
    CostRange(low_ns=60.0, median_ns=100.0, high_ns=110.0)
    """

    def mixed(part: float) -> CostRange:
        return first.times(part).plus(unwritten.times(1 - part))

    ends = (mixed(share.low), mixed(share.high))
    return CostRange(min(end.low_ns for end in ends), mixed(share.likely).median_ns, max(end.high_ns for end in ends))
