"""What explaining needs of whoever traces: one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clonometer.answers import Trace
from clonometer.plan.types import Target


class Tracer(Protocol):
    """Starts launches and listens."""

    @property
    def grown(self) -> int:
        """How often more room was taken, because events were lost."""

    def trace(
        self,
        target: Target,
        how: str,
        events: Sequence[str] = (),
        *,
        period_ns: int = 100_000,
        counters: str | None = None,
        window_ns: int | None = None,
        fault_run: int | None = None,
    ) -> Trace:
        """Start the probe once for ``target``."""
