"""What explaining needs of whoever traces: three kinds of data, and one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from clonometer.plan.types import Target

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LaunchBlock(Protocol):
    """Launches that were made one after another: the columns and facts of docs/protocol.md."""

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Columns, each of shape (rows,)."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts, of which ``start_ticks`` says when it began."""

    @property
    def temperature(self) -> str | None:
        """``cold``, ``warm`` or None."""


class Trace(Protocol):
    """One start of the probe and what the kernel told meanwhile (docs/tracing.md)."""

    @property
    def how(self) -> str:
        """``fast``, ``tracepoints``, ``own``, ``ptrace`` or ``none``."""

    @property
    def refused(self) -> str | None:
        """Why this machine does not allow it."""

    @property
    def task(self) -> int:
        """The probe as the kernel numbers it."""

    @property
    def lost(self) -> int:
        """How many events are missing."""

    @property
    def whole(self) -> tuple[int | None, int | None]:
        """From when on, and until when, nothing was lost for want of room; None: always."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the events' kinds."""

    @property
    def events(self) -> NDArray[Any]:
        """Events in the order of time."""

    @property
    def texts(self) -> bytes:
        """Names of programs."""

    @property
    def stacks(self) -> NDArray[Any]:
        """Words of call stacks."""

    @property
    def maps(self) -> str:
        """The probe's memory areas."""

    @property
    def calls(self) -> Mapping[int, str]:
        """Names of system calls."""

    @property
    def blocks(self) -> Sequence[LaunchBlock]:
        """The launches."""

    @property
    def counters(self) -> Sequence[str]:
        """What was read at every event."""

    @property
    def counters_refused(self) -> Mapping[str, str]:
        """Counters that could not be read, each with the reason."""

    @property
    def windows(self) -> Sequence[tuple[int, int, bool]]:
        """Begin and end of each span in which somebody listened or nobody did; empty where that never changed."""

    def event_time_ns(self, ticks: int) -> int:
        """When on the events' clock the probe's clock showed ``ticks``."""


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
