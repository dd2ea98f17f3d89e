"""Many paired comparisons that end as soon as they are sure, and err no more often for having looked meanwhile.

Differences are judged at a few looks that are fixed beforehand, by the signed-rank test (`SignedRank`) with Holm's
correction over all rows. Each look on the way may spend an equal part of half of the error rate, the last one what is
then left. By Bonferroni's inequality the chances of erring at any look add up to the error rate at most, whatever the
rows have in common and whenever measuring was broken off [1]_.

Who of a pair comes first is drawn, which makes the test exact where the order does not matter. Where it does, because
one side leaves something behind for the other, all differences have a mean that is neither side's. Each two pairs have
both orders, so that what being second takes cancels. And a change is sure only if the pairs that A began and those that
B began each show it by themselves, at a level that only rows share whose orders are seen to differ. What all pairs show
together, and not each order, is likely; and none is the same where the orders differ from each other [2]_.

References
----------
.. [1] S. J. Pocock, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64 (1977)
       191-199; K. K. G. Lan, D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983)
       659-663: a part of the error rate is spent at each look.
.. [2] S. Senn, "Cross-over trials in clinical research", 2nd edition, Wiley 2002, chapters 3 and 10: carry-over, and
       why a test of it beforehand does not protect the estimate. R. L. Berger, "Multiparameter hypothesis testing and
       acceptance sampling", Technometrics 24 (1982) 295-300: intersection-union tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clonometer.stats.quantiles import Floats, Integers
from clonometer.stats.rank_sum import two_sided_p
from clonometer.stats.signed_rank import SignedRank, least_p
from clonometer.stats.trend import keeps_level

#: With fewer pairs not even one row can be told at 5%: 6 of each order.
FEWEST_PAIRS = 12
# Eleven of each order can show a change of up to four rows.
_FIRST_LOOK = 22
_NEXT_LOOK = 1.5
#: Of the error rate: what the looks on the way may spend together.
_ON_THE_WAY = 0.5
#: Two-sided, of one order's pairs against the other's: below, the order matters.
ORDER_P = 0.01
#: The same, below which it may: such rows share the level at which each order must show a change.
_MAY_DIFFER_P = 0.2
#: One-sided: what six pairs of an order can show at best. Where only one order differs, and by however much, this calls
#: it a change in 4.2% of comparisons at most, over all looks (docs/comparing.md).
_ORDER_LEVEL = 2.0**-6


@dataclass(frozen=True)
class PairedDesign:
    """What is fixed before the first pair.

    Attributes
    ----------
    most_pairs
        Where measuring ends at the latest.
    least_effect
        The least change that is called one, as a share above 0.
    limit
        The largest rise allowed, as a share; a row is then measured until it is surely above or surely not. None: no
        limit.
    error_rate
        The chance that any row is called changed where nothing is.
    """

    most_pairs: int
    least_effect: float
    limit: float | None = None
    error_rate: float = 0.05

    @property
    def looks(self) -> tuple[int, ...]:
        """After how many pairs is looked on the way, each half as many again as before.

        Examples
        --------
        >>> PairedDesign(100, 0.02).looks
        (22, 33, 50, 75)
        """
        looks, pairs = [], float(_FIRST_LOOK)
        while math.ceil(pairs) < self.most_pairs:
            looks.append(math.ceil(pairs))
            pairs = looks[-1] * _NEXT_LOOK
        return tuple(looks)

    @property
    def spent_at_look(self) -> float:
        """The error rate of each look on the way."""
        return _ON_THE_WAY * self.error_rate / max(1, len(self.looks))


@dataclass(frozen=True)
class PairedRow:
    """Differences of logarithms, B less A, of one row.

    Attributes
    ----------
    group
        Rows of a group are measured together, and go on until all of them are sure.
    turns
        Shape (pairs,), rising: in which turn of its group each pair was measured, from 0. A turn may give no pair.
    differences
        Shape (pairs,), finite.
    b_first
        Shape (pairs,): whether B was started first; None where that is not known, and cannot be judged.
    """

    group: int
    turns: Integers
    differences: Floats
    b_first: NDArray[np.bool_] | None = None

    def until(self, turn: int) -> PairedRow:
        """The pairs of the first turns."""
        kept = int(np.searchsorted(self.turns, turn))
        order = None if self.b_first is None else self.b_first[:kept]
        return PairedRow(self.group, self.turns[:kept], self.differences[:kept], order)


@dataclass(frozen=True)
class Orders:
    """The differences of the pairs that A began, and of those that B began, on the logarithm.

    ``level`` is that at which each order must show a change, one-sided. ``p`` is two-sided, by the rank-sum test: that
    the two orders differ by chance. ``first_a`` and ``first_b`` are None, and ``p`` is 1, where no pair has that order.
    """

    first_a: SignedRank | None
    first_b: SignedRank | None
    level: float
    p: float = 1.0

    @classmethod
    def of_rows(cls, rows: Sequence[PairedRow]) -> list[Orders | None]:
        """Divide the pairs of each row by their order; None where it is not known."""
        orders: list[Orders | None] = []
        for row in rows:
            if row.b_first is None:
                orders.append(None)
                continue
            sides = [row.differences[~row.b_first], row.differences[row.b_first]]
            a, b = (SignedRank(side) if side.size else None for side in sides)
            orders.append(cls(a, b, _ORDER_LEVEL, 1.0 if a is None or b is None else two_sided_p(*sides)))
        differ = sum(each is not None and each.p < _MAY_DIFFER_P for each in orders)
        return [each and replace(each, level=_ORDER_LEVEL / max(1, differ)) for each in orders]

    @property
    def matters(self) -> bool:
        """Whether it matters which side comes first."""
        return self.p < ORDER_P

    def agree(self, direction: int, bound: float = 0.0) -> bool:
        """Whether the pairs of each order show a change beyond ``bound`` by themselves: upwards for 1, else down."""
        tests = [test for test in (self.first_a, self.first_b) if test is not None]
        return len(tests) == 2 and all(
            test.one_sided_p(bound)[0 if direction > 0 else 1] <= self.level for test in tests
        )


@dataclass(frozen=True)
class Decision:
    """What is known of one row; ``value``, ``low`` and ``high`` are differences of logarithms.

    ``low`` and ``high`` are None where so few pairs give no interval at the level that decides, all three and ``p``
    where there is no pair. ``p`` is corrected for the rows and the looks: it is at most the error rate exactly where
    the interval does not hold zero. ``sure``: no more pairs are needed.

    ``drifts``: the differences depend on time, so that no interval of this kind holds, and there is no ``p``. ``low``
    and ``high`` are then the least and the largest difference, each further out by the distance between them: what is
    beyond that is called changed, however the level moves.
    """

    pairs: int
    n_above: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    sure: bool = False
    orders: Orders | None = None
    drifts: bool = False

    @property
    def order_matters(self) -> bool:
        """Whether it was seen to matter which side of a pair comes first."""
        return self.orders is not None and self.orders.matters

    def is_within(self, share: float) -> bool:
        """Whether the whole interval is a change by at most a share, up or down, whichever side comes first."""
        bound = math.log1p(share)
        if self.order_matters:
            return False
        return self.low is not None and self.high is not None and -bound <= self.low and self.high <= bound

    def is_above(self, share: float) -> bool:
        """Whether the whole interval is a rise by more than a share, in either order."""
        bound = math.log1p(share)
        return self.low is not None and self.low > bound and self._agree(1, bound)

    def is_not_above(self, share: float) -> bool:
        """Whether the whole interval is a rise by at most a share, or a fall, whichever side comes first."""
        return self.high is not None and self.high <= math.log1p(share) and not self.order_matters

    def leans(self, least_effect: float) -> int:
        """1 where all pairs together rose, by an estimate of the least effect or more; -1 where they fell; else 0."""
        if self.value is None or self.low is None or self.high is None:
            return 0
        bound = math.log1p(least_effect)
        return int(self.low > 0 and self.value >= bound) - int(self.high < 0 and self.value <= -bound)

    def changed(self, least_effect: float) -> int:
        """The same where each order shows it by itself, so that it is sure."""
        direction = self.leans(least_effect)
        return direction if direction and self._agree(direction) else 0

    def _agree(self, direction: int, bound: float = 0.0) -> bool:
        return self.orders is None or self.orders.agree(direction, bound)


@dataclass(frozen=True)
class Judged:
    """All rows in their order, and the groups that need more pairs."""

    rows: tuple[Decision, ...]
    open_groups: frozenset[int]


def judge(rows: Sequence[PairedRow], design: PairedDesign, *, ended: bool = True) -> Judged:
    """Judge what was measured, as if at each look in its turn.

    Parameters
    ----------
    rows
        All rows of the comparison. A group that was sure at a look is judged by the pairs until that look.
    design
        What was fixed beforehand.
    ended
        Whether no more pairs will come: what is not sure yet is then judged by all of its pairs, with the error rate
        that no look has spent. Otherwise these rows are as at the last look.

    Returns
    -------
    Judged
        The chance that `Decision.changed` is wrong for any row of which nothing changed is at most the error rate.
    """
    rows = [row.until(design.most_pairs) for row in rows]
    turns = max((int(row.turns[-1]) + 1 for row in rows if row.turns.size), default=0)
    decisions = [Decision(0, 0) for _ in rows]
    open_groups = {row.group for row in rows}
    left = design.error_rate
    for look in design.looks:
        if look > turns or not open_groups:
            break
        places = [place for place, row in enumerate(rows) if row.group in open_groups]
        judged, spends = _look([rows[place].until(look) for place in places], len(rows), design, design.spent_at_look)
        left -= design.spent_at_look if spends else 0.0
        _put(decisions, places, judged)
        open_groups = {rows[place].group for place in places if not decisions[place].sure}
    if ended:
        places = [place for place, row in enumerate(rows) if row.group in open_groups]
        judged, _ = _look([rows[place] for place in places], len(rows), design, left)
        _put(decisions, places, judged)
    return Judged(tuple(decisions), frozenset(open_groups))


def _put(decisions: list[Decision], places: Sequence[int], judged: Sequence[Decision]) -> None:
    for place, decision in zip(places, judged, strict=True):
        decisions[place] = decision


def _look(
    rows: Sequence[PairedRow], family: int, design: PairedDesign, error_rate: float
) -> tuple[list[Decision], bool]:
    """Judge rows at one look by Holm's procedure in a family of so many; and whether any could be rejected at all.

    A row's interval is at the level at which Holm tests it: rejected rows at their step, all others at the step that
    stopped.
    """
    tests = {place: SignedRank(row.differences) for place, row in enumerate(rows) if row.differences.size}
    decisions = [
        Decision(row.differences.size, int((row.differences > 0).sum()), orders=orders)
        for row, orders in zip(rows, Orders.of_rows(rows), strict=True)
    ]
    step, stopped, highest = family, False, 0.0
    for place, test in sorted(tests.items(), key=lambda entry: entry[1].p_value):
        highest = max(highest, test.p_value * step)
        decided = _decided(decisions[place], test, error_rate / step, highest * design.error_rate / error_rate)
        decisions[place] = _despite_drift(decided, rows[place].differences, math.log1p(design.least_effect))
        stopped = stopped or highest > error_rate
        step -= not stopped
    spends = any(least_p(test.n) <= error_rate / family for test in tests.values())
    return [replace(decision, sure=_is_sure(decision, design)) for decision in decisions], spends


def _decided(decision: Decision, test: SignedRank, error_rate: float, p: float) -> Decision:
    low, high = test.interval(error_rate)
    known = math.isfinite(low)
    return replace(decision, value=test.value, low=low if known else None, high=high if known else None, p=min(1.0, p))


def _despite_drift(decision: Decision, differences: Floats, least: float) -> Decision:
    """Put what the differences moved in place of the interval, where they depend on time and moved by ``least``."""
    spread = np.quantile(differences, [0.1, 0.9])
    if decision.low is None or spread[1] - spread[0] < least or keeps_level(differences):
        return decision
    low, high = float(differences.min()), float(differences.max())
    return replace(decision, low=2 * low - high, high=2 * high - low, p=None, drifts=True)


def _is_sure(decision: Decision, design: PairedDesign) -> bool:
    if design.limit is not None:
        return decision.is_above(design.limit) or decision.is_not_above(design.limit)
    return decision.changed(design.least_effect) != 0 or decision.is_within(design.least_effect)
