"""How much longer than its CPU time a call takes where others want the CPUs too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from clonometer.model.types import Ns
from clonometer.records import Ge

#: Nine in ten lie between these.
_QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class StretchAt:
    """Wall time over CPU time of uninterrupted work of one length: nine in ten lie from low to high."""

    cpu_ns: Annotated[Ns, "How much CPU time the work takes."]
    low: Annotated[float, Ge(1)]
    median: Annotated[float, Ge(1)]
    high: Annotated[float, Ge(1)]


def stretches_of(measured: Mapping[int, Sequence[float]]) -> list[StretchAt]:
    """Summarize wall over CPU time by the CPU time of the work, in ns; shortest first.

    Examples
    --------
    >>> stretches_of({1_000_000: [1.0, 3.0, 2.0]})[0].median
    2.0
    """
    return [
        StretchAt(cpu_ns, *(max(1.0, float(each)) for each in np.quantile(ratios, _QUANTILES)))
        for cpu_ns, ratios in sorted(measured.items())
        if ratios
    ]


def stretch_at(stretches: Sequence[StretchAt], cpu_ns: float) -> StretchAt:
    """Interpolate for work of another length, on the logarithm of it; beyond the ends, as at the ends.

    Short work is often over before the scheduler lets another task in, long work hardly ever.

    Raises
    ------
    ValueError
        If there is nothing to interpolate.
    """
    if not stretches:
        raise ValueError("no stretch was measured")
    lengths = [math.log(each.cpu_ns) for each in stretches]
    at = math.log(max(cpu_ns, 1.0))
    ends = (
        float(np.interp(at, lengths, [getattr(each, end) for each in stretches])) for end in ("low", "median", "high")
    )
    return StretchAt(cpu_ns, *ends)
