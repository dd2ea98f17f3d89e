"""Launches on the clock of the events: when each began, and its stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clonometer.answers import Trace
from clonometer.words import STAGE_ORDER

_NULL = -(2**63)


@dataclass(frozen=True)
class Launch:
    """One launch.

    Attributes
    ----------
    start_ns
        The stamp before the call, on the events' clock.
    reaped_ns
        From there until wait or join had returned.
    stages
        Name (``call_returns``, ``task_runs``, ``image_entered``, ``image_runs``, ``image_ends``) -> ns from the start,
        for those that there are.
    same_cpu
        Whether the new task began on the CPU of its maker; None where that was not observed.
    """

    start_ns: int
    reaped_ns: int
    stages: dict[str, int]
    same_cpu: bool | None = None

    @property
    def end_ns(self) -> int:
        """When it was over."""
        return self.start_ns + self.reaped_ns


def whole_number(columns: Mapping[str, Any], name: str, row: int) -> int | None:
    """What a column has in a row; None where that is null or there is no such column."""
    value = int(columns[name][row]) if name in columns else _NULL
    return None if value == _NULL else value


def launches_of(trace: Trace) -> Iterator[Launch]:
    """Every launch of a trace that was reaped, in the order of time."""
    for block in trace.blocks:
        begin_ns = trace.event_time_ns(int(block.facts["start_ticks"]))
        columns = block.columns
        cpus = [columns[name].tolist() for name in ("cpu_before", "cpu_child") if name in columns]
        for row, errno in enumerate(columns["errno"].tolist()):
            reaped = whole_number(columns, "reaped_ns", row)
            if errno != 0 or reaped is None:
                continue
            stages = {
                stage: at for stage in STAGE_ORDER[:-1] if (at := whole_number(columns, f"{stage}_ns", row)) is not None
            }
            places = [column[row] for column in cpus]
            same = places[0] == places[1] if len(places) == 2 and min(places) >= 0 else None
            yield Launch(begin_ns + int(columns["start_ns"][row]), reaped, stages, same)
