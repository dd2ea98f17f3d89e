"""What drivers and the tracer answer: plain values, for all who write, read or explain them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Block:
    """Consecutive samples of one process, as a driver measured them.

    Attributes
    ----------
    index
        Counts from 0 in the order of measuring.
    workload, temperature
        As requested; ``temperature`` is None for workloads that have none.
    rows
        Number of samples.
    columns
        Name -> array of shape ``(rows,)``, read-only, dtype int32, int64 or float64, in the order and the
        unit that the driver declared. Null is the smallest value of int32 and int64, and NaN of float64.
    column_types, units
        Name -> ``i32``, ``i64`` or ``f64``; name -> unit.
    status, reason
        ``ok``, ``skipped`` or ``failed``, the last two with a reason.
    outcomes
        How many launches ended how: ``ok`` or the name of an errno.
    facts
        Facts of the block (wall time, effective frequency, faults, switches).
    raw
        The three frames as they came, for NAME.raw.
    """

    index: int
    workload: str
    temperature: str | None
    rows: int
    columns: Mapping[str, NDArray[Any]]
    column_types: Mapping[str, str]
    units: Mapping[str, str]
    status: str
    reason: str | None
    outcomes: Mapping[str, int]
    facts: Mapping[str, Any]
    raw: bytes


@dataclass(frozen=True)
class Done:
    """How an answer ended: ``ok``, ``skipped`` or ``failed``, the last two with a reason."""

    status: str
    reason: str | None
    errno: int | None
    blocks: int
    driver: str | None
    version: str | None
    linkage: str | None
    raw: bytes


@dataclass(frozen=True)
class Trace:
    """One start of the probe with somebody listening.

    Attributes
    ----------
    how
        ``fast``, ``tracepoints``, ``own``, ``ptrace`` or ``none``.
    refused
        Why this machine does not allow that; then there is nothing else. None where it does.
    task
        The probe as the kernel numbers it; 0 where it was not seen.
    lost
        Events that are missing, for whatever reason.
    missed
        Those of them that more room would not have kept.
    kinds
        The names of ``events["kind"]``.
    events
        Structured array in the order of time: ``time_ns`` (uint64, ns of the kernel's monotonic clock), ``task``,
        ``process``, ``thread``, ``cpu``, ``kind`` and ``values`` (shape (7,), int64; docs/tracing.md).
    texts, stacks
        What the values of execs and samples point into; stacks are uint64 addresses.
    maps
        The probe's memory areas when it had measured, as in ``/proc/PID/maps``.
    calls
        Names of the system calls that occur, by number.
    pairs
        Two readings, before and after, of the probe's own clock (ticks) and the events' (ns).
    stamps
        The probe's own clock: ``tsc`` or ``monotonic``.
    blocks, done
        The probe's own answer.
    counters
        What was read at every event, in the order of the values of ``counts`` events.
    counters_refused
        Counters that were asked for and could not be read, each with the reason.
    windows
        Begin and end (ns, as the events') of each span in which somebody listened, or in which nobody did, and which
        of the two; empty where somebody listened, or nobody did, all the time.
    whole
        From when on, and until when, nothing was lost for want of room, ns on the events' clock; None: from the first
        event on, until the last.
    faults_left_out
        Page faults that were not noted because they were in runs longer than was asked for; where such a run begins,
        an event ``faults_left_out`` says so.
    marks_refused
        Why the places of a program that were asked for are not noted.
    """

    how: str
    refused: str | None
    task: int
    lost: int
    missed: int
    exit_status: int
    kinds: tuple[str, ...]
    events: NDArray[Any]
    texts: bytes
    stacks: NDArray[np.uint64]
    maps: str
    calls: Mapping[int, str]
    pairs: tuple[tuple[int, int], tuple[int, int]]
    stamps: str
    blocks: tuple[Block, ...]
    done: Done | None
    counters: tuple[str, ...] = ()
    counters_refused: Mapping[str, str] = field(default_factory=dict)
    windows: tuple[tuple[int, int, bool], ...] = ()
    whole: tuple[int | None, int | None] = (None, None)
    faults_left_out: int = 0
    marks_refused: str | None = None

    def event_time_ns(self, ticks: int) -> int:
        """Say when on the events' clock the probe's own clock showed ``ticks``."""
        (first_ticks, first_ns), (last_ticks, last_ns) = self.pairs
        if last_ticks == first_ticks:
            return first_ns + ticks - first_ticks
        return first_ns + (ticks - first_ticks) * (last_ns - first_ns) // (last_ticks - first_ticks)
