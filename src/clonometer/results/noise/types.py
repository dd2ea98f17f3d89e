"""What measuring a machine's noise hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Ge, Gt, Key, Le, Mark, Only, version
from clonometer.results.types import Estimate, ShareOrNone

NOISE_SCHEMA = 2


_NOISE_OF = Only("noise_of", ("cell", "temperature", "stage", "quantity", "placement", "n_processes", "median_ns"))


@dataclass(frozen=True)
class AgainstItself:
    """Checks of A against A: how many there were, how many alarmed, and the chance of an alarm with its interval."""

    checks: Count
    alarms: Count
    rate_low: Annotated[float, Ge(0), Le(1), "Ends of the exact 95% interval of the rate of alarms."]
    rate_high: Annotated[float, Ge(0), Le(1)]
    rows: Annotated[Sequence[str], "The rows that alarmed."]


@dataclass(frozen=True)
class NoiseRow:
    """The noise of one stage of one cell at one observed placement, by the first half of the first round."""

    estimate: Annotated[Estimate, Mark.MERGED, _NOISE_OF]
    spread: Annotated[
        float,
        Ge(0),
        "How far process medians scatter, as a share: 1.4826 times their median absolute deviation, on the logarithm.",
    ]
    between: Annotated[
        ShareOrNone,
        Key("between_rounds"),
        "How far rounds are apart, as a share: the standard deviation of their medians beyond what all rows of a round "
        "have in common and what the spread of processes explains; None with fewer than three rounds.",
    ]
    detectable: Annotated[
        ShareOrNone,
        Key("detectable_change"),
        "The smallest slowdown that one check would detect in 95% of cases, as a share; None where it would detect "
        "none.",
    ]


@dataclass(frozen=True)
class LayoutRow:
    """What layouts of memory that are drawn add to the scatter of one row."""

    estimate: Annotated[Estimate, Mark.MERGED, _NOISE_OF]
    drawn_pairs: Annotated[Count, "Pairs of processes with a layout each."]
    same_pairs: Annotated[Count, "Pairs of processes with one layout."]
    drawn_spread: Annotated[
        float, Ge(0), "How far processes with a layout each scatter, as a share: from the median distance of pairs."
    ]
    same_spread: Annotated[float, Ge(0), "The same of processes with one layout."]
    share: Annotated[
        ShareOrNone, Le(1), "Of the scatter (a variance), what the layout adds; None where that is not known."
    ]
    share_low: Annotated[ShareOrNone, Le(1), "Ends of its 95% interval: where it begins with 0, none is shown."]
    share_high: Annotated[ShareOrNone, Le(1)]
    reason: Annotated[str | None, "Why it is not known."] = None

    @property
    def is_shown(self) -> bool:
        """Whether the layout adds anything, as far as 95% of intervals are right."""
        return bool(self.share_low)


@dataclass(frozen=True)
class Layouts:
    """How much of the scatter between processes comes from layouts that are drawn, or why that is not known."""

    reason: Annotated[str | None, "Why it could not be measured; None where it was."]
    kernel_draws: Annotated[
        bool | None, "Whether the kernel draws places too, or the runner's environment alone; None where not known."
    ]
    rows: Annotated[Sequence[LayoutRow], "In the order of the plan."] = ()


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of a machine under a plan."""

    schema = version(NOISE_SCHEMA)

    plan: str
    rounds: Count
    max_regression: Annotated[float, Gt(0), "As in a check."]
    error_rate: Annotated[float, "What the rate of false alarms is designed to be at most."]
    n_tests: Annotated[Count, "Rows that could alarm."]
    interleaved: Annotated[
        AgainstItself,
        "One half of a round against the other; their processes were started in turn.",
    ]
    in_a_row: Annotated[
        AgainstItself | None,
        "Half of a round against half of the round before, compared as two runs; None where there was only one round.",
    ]
    common: Annotated[
        ShareOrNone,
        Key("common_between_rounds"),
        Mark.OPTIONAL,
        "How far rounds are apart in what all rows have in common; None with fewer than three rounds, or with one "
        "condition.",
    ] = None
    rows: Annotated[Sequence[NoiseRow], "In the order of the plan."]
    layouts: Annotated[Layouts | None, Mark.OMITTED, "Where --layout asked for it."] = None

    @property
    def n_first(self) -> int:
        """The number of rows of first launches, which are suspected at most."""
        return sum(row.estimate.is_first_launch for row in self.rows)
