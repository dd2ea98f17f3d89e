"""What a check asks of each row: by how much it is slower than its baseline, and how likely that is by chance.

Rows of many processes are compared by their lower deciles, which a neighbour on the machine spares. Rows of few are
compared by their medians, with the machine's speed at each moment taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from clonometer.results.check.gate import p_slower
from clonometer.results.check.lower_decile import (
    decile_ratio,
    fast_logs,
    fast_part,
    has_decile,
    least_decile_p,
    lower_decile,
    p_slower_decile,
)
from clonometer.results.check.machine import common_levels, even_out
from clonometer.results.check.power import detectable_change
from clonometer.results.check.types import DECILE, MEDIAN
from clonometer.results.compare.comparison import Match, draft_row, inflations_of, typical_places
from clonometer.results.compare.types import ComparedRow
from clonometer.results.rows.ratio import no_ratio_of, seed_of
from clonometer.stats.rank_sum import least_p
from clonometer.stats.serial import inflated_p, serial_inflations

if TYPE_CHECKING:
    from clonometer.stats.quantiles import Floats


@dataclass(frozen=True)
class RowTest:
    """One row before it is judged.

    Attributes
    ----------
    level
        Of what the ratio is: `MEDIAN` or `DECILE`.
    ratio
        By that level, the machine's speed taken off; None where there is none.
    p_value, least_p
        One-sided, of being slower by half of what is allowed at most; and the smallest that so many processes can
        give. None where there is no interval.
    shift
        How much slower the machine was in the run, as a share, by what the row is compared by.
    match
        The two sides as they are compared.
    blind, inflation
        How many times as large a slow-down must be to be seen because of the machine's speed, and how many times as
        uncertain a side is as independent processes are.
    median
        Where the lower deciles are compared: the same row by its medians; else None.
    """

    level: str
    ratio: float | None
    p_value: float | None
    least_p: float
    shift: float
    match: Match
    blind: float
    inflation: float
    median: RowTest | None = None

    @cached_property
    def draft(self) -> ComparedRow:
        """Both sides with ratio and interval; without a verdict. What is resampled for it takes its time."""
        if self.median is None:
            return draft_row(self.match)
        ratio, low, high = decile_ratio(*_decile_logs(self.match, self.shift), self.inflation)
        return replace(self.median.draft, ratio=ratio, low=low, high=high)

    def detectable(self, tests: int, max_regression: float, error_rate: float) -> float | None:
        """The smallest slow-down, as a share, that a check of so many rows would find in 95% of cases."""
        rule = tests, max_regression, error_rate
        if rule not in self._detectable:
            self._detectable[rule] = self._simulated(*rule)
        return self._detectable[rule]

    @cached_property
    def _detectable(self) -> dict[tuple[int, float, float], float | None]:
        """What is known already: the rows that alarm are asked twice, and each answer takes a thousand checks."""
        return {}

    def _simulated(self, tests: int, max_regression: float, error_rate: float) -> float | None:
        import numpy as np

        base, other = self.match.base, self.match.other
        decile = self.level == DECILE
        change = detectable_change(
            fast_logs(base) if decile else np.log(base.processes.values),
            (base.processes.values.size, other.processes.values.size),
            decile=decile,
            tests=tests,
            seed=seed_of(self.match.other, self.match.base),
            max_regression=max_regression,
            error_rate=error_rate,
            inflation=self.inflation,
        )
        return None if change is None else (1 + change) * self.blind - 1


@dataclass(frozen=True)
class RowTests:
    """All rows of a check; ``shift`` and ``kinds`` as `Checked.machine_shift` and `Checked.machine_kinds`."""

    rows: Sequence[RowTest]
    shift: float
    kinds: int


def row_tests(matches: Sequence[Match], max_regression: float) -> RowTests:
    """Test all rows of two runs.

    Parameters
    ----------
    matches
        Rows of times.
    max_regression
        The largest regression allowed, as a share.

    Returns
    -------
    RowTests
        In the order of the matches.
    """
    import numpy as np

    evened = even_out(matches)
    inflations = inflations_of(evened.matches)
    rows = [
        _by_median(match, evened.shift, blind, inflation, max_regression)
        for match, blind, inflation in zip(evened.matches, evened.blind, inflations, strict=True)
    ]
    many = [place for place, match in enumerate(matches) if has_decile(match.base) and has_decile(match.other)]
    if not many:
        return RowTests(rows, evened.shift, evened.kinds)
    (before, after), kinds = common_levels([[match.base for match in matches], [match.other for match in matches]])
    shift = float(np.expm1(after - before))
    parts = [[fast_part(fast_logs(side)) for side in (matches[place].base, matches[place].other)] for place in many]
    typical = typical_places([matches[place] for place in many])
    for place, inflation in zip(many, serial_inflations(parts, typical), strict=True):
        rows[place] = _by_decile(matches[place], shift, inflation, max_regression, rows[place])
    return RowTests(rows, shift, kinds)


def _by_median(match: Match, shift: float, blind: float, inflation: float, max_regression: float) -> RowTest:
    import numpy as np

    base, other = match.base.processes.values, match.other.processes.values
    least = inflated_p(least_p(base.size, other.size), inflation)
    ratio = p_value = None
    if no_ratio_of(match.base, match.other) is None:
        ratio = float(np.median(other) / np.median(base))
        if min(base.size, other.size) > 1:
            p_value = p_slower(base, other, max_regression, inflation)
    return RowTest(MEDIAN, ratio, p_value, least, shift, match, blind, inflation)


def _by_decile(match: Match, shift: float, inflation: float, max_regression: float, median: RowTest) -> RowTest:
    import numpy as np

    base, other = _decile_logs(match, shift)
    return RowTest(
        DECILE,
        float(np.exp(lower_decile(other) - lower_decile(base))),
        p_slower_decile(base, other, max_regression, inflation),
        inflated_p(least_decile_p(base.size, other.size), inflation),
        shift,
        match,
        float(np.exp(abs(np.log1p(shift)))),
        inflation,
        median,
    )


def _decile_logs(match: Match, shift: float) -> tuple[Floats, Floats]:
    """Both sides of a row: a slower machine is an excuse and taken off, a faster one is no accusation."""
    import numpy as np

    return fast_logs(match.base), fast_logs(match.other) - max(0.0, float(np.log1p(shift)))
