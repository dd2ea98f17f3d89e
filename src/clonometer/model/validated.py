"""What a validation hands to views and callers: predictions beside the forks that were predicted, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.model.types import CostRange, Ns
from clonometer.records import Count, Ge, Le, version

VALIDATION_SCHEMA = 3
#: What is aimed at.
MEDIAN_ERROR = 0.08
NINE_IN_TEN_ERROR = 0.15
COVERAGE = (0.85, 0.95)


@dataclass(frozen=True)
class ValidatedFork:
    """One process in one state: what was predicted, and what its forks took."""

    state: Annotated[
        str,
        "first: all was rewritten since the last fork; half_written, unwritten: half of it, nothing; later: any of "
        "these, and the prediction does not know which; _hot: the same in a tight loop; until_exit, until_exec: the "
        "call and the wait after it.",
    ]
    predicted: CostRange
    calls_ns: Sequence[Ns]
    middle_ns: Annotated[Ns, "Of the forks (`clonometer.model.fitting.middle` of the logarithms)."]
    largest_term: Annotated[str, "The term that contributes most to the prediction."]

    @property
    def error(self) -> float:
        """The prediction over the middle of the forks, less 1."""
        return self.predicted.median_ns / self.middle_ns - 1


@dataclass(frozen=True)
class ErrorSummary:
    """Errors of one group of forks."""

    group: str
    processes: Count
    median_error: Annotated[float, Ge(0), "Of the absolute errors, as a share."]
    nine_in_ten_error: Annotated[float, Ge(0), "Nine in ten are smaller."]
    bias: Annotated[float, "The middle one of the errors, with its sign."]
    coverage: Annotated[float, Ge(0), Le(1), "Share of single forks within the predicted interval."]


@dataclass(frozen=True)
class Validation:
    """Predictions against forks."""

    schema = version(VALIDATION_SCHEMA)

    whole: ErrorSummary
    states: Sequence[ErrorSummary]
    terms: Annotated[Sequence[ErrorSummary], "By the largest term of the prediction."]
    forks: Sequence[ValidatedFork]
