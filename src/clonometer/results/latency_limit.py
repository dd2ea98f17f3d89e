"""A limit of latency, such as ``p99<5ms``: which share of the requests must be answered within which time."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated

from clonometer.errors import UsageError
from clonometer.records import Gt, OneOf
from clonometer.units import exact_duration, format_duration, parse_seconds

#: Each name of a latency, and the share of the requests that it is at least as long as.
QUANTILES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
_TEXT = re.compile(r"([a-z0-9.]+)\s*(?:<=?|=)\s*(\d\S*[a-zµ])")


@dataclass(frozen=True)
class LatencyLimit:
    """How long requests may take: at the stated quantile."""

    quantile: Annotated[str, OneOf(tuple(QUANTILES))]
    ns: Annotated[float, Gt(0)]

    @property
    def share(self) -> float:
        """The share of the requests that must be answered within it."""
        return QUANTILES[self.quantile]

    @property
    def text(self) -> str:
        """As it is read."""
        return f"{self.quantile} below {format_duration(self.ns)}"

    @property
    def as_option(self) -> str:
        """As an option takes it: the shell has a use of its own for ``<``."""
        return f"{self.quantile}={exact_duration(self.ns)}"


def parse_latency_limit(text: str, quantiles: Collection[str] = tuple(QUANTILES)) -> LatencyLimit:
    """Read a limit such as ``p99<5ms``, or ``p99=5ms``, which a shell takes without quotes.

    Raises
    ------
    UsageError
        If it is none, or of another quantile than those that are known.

    Examples
    --------
    >>> parse_latency_limit("p99<5ms")
    LatencyLimit(quantile='p99', ns=5000000.0)
    """
    match = _TEXT.fullmatch(text.strip())
    quantile, time = match.groups() if match else ("", "")
    try:
        ns = 1e9 * parse_seconds(time)
    except UsageError:
        ns = 0.0
    if quantile not in quantiles or ns <= 0:
        known = ", ".join(each for each in quantiles if each != "p99")
        raise UsageError(f"{text!r} is not a limit of latency", f"such as 'p99=5ms'; instead of p99 also {known}")
    return LatencyLimit(quantile, ns)
