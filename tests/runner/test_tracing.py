"""Tracing once more: where events were lost, missed, or stand on a clock that parted from the probe's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from tests.protocol.test_trace import answer

from clonometer.answers import Trace
from clonometer.plan.types import Target
from clonometer.protocol.trace import parse_trace
from clonometer.runner.drivers import Drivers
from clonometer.runner.tracing import FIRST_RING_BYTES, ProbeTracer

# Two ticks a nanosecond, as the pairs of that answer say.
HZ = 2_000_000_000
WHOLE = replace(parse_trace(answer()), lost=0, missed=0)


class Retold(ProbeTracer):
    """Gives answers that are there already, and remembers the room that each was given."""

    def __init__(self, *answers: Trace, hz: float = HZ) -> None:
        super().__init__(cast("Drivers", None), {"clock": "tsc", "clock_hz": hz})
        self.answers = list(answers)
        self.rooms: list[int] = []

    def _once(self, *asked: Any) -> Trace:
        self.rooms.append(self._ring_bytes)
        return self.answers.pop(0)

    def tell(self) -> Trace:
        return self.trace(cast("Target", None), "fast", ("tasks",))


def test_a_whole_answer_is_taken_at_once() -> None:
    tracer = Retold(WHOLE)
    assert tracer.tell() is WHOLE
    assert (tracer.rooms, tracer.grown) == ([FIRST_RING_BYTES], 0)


def test_losses_get_more_room_until_there_is_no_more() -> None:
    lossy = replace(WHOLE, lost=5)
    tracer = Retold(lossy, lossy, WHOLE)
    assert tracer.tell() is WHOLE
    assert tracer.rooms == [FIRST_RING_BYTES * 4**turn for turn in range(3)]
    assert tracer.grown == 2
    stubborn = Retold(*[lossy] * 5)
    assert stubborn.tell() is lossy
    assert len(stubborn.rooms) == 3


def test_what_more_room_would_not_keep_is_tried_once_more() -> None:
    missing = replace(WHOLE, lost=2, missed=2)
    tracer = Retold(missing, missing)
    assert tracer.tell() is missing
    assert tracer.grown == 0


@pytest.mark.parametrize(("hz", "turns"), [(HZ, 1), (HZ * 1.0005, 1), (HZ * 1.01, 2), (HZ / 1.01, 2)])
def test_where_the_machine_stood_still_it_is_traced_once_more(hz: float, turns: int) -> None:
    tracer = Retold(WHOLE, WHOLE, hz=hz)
    tracer.tell()
    assert len(tracer.rooms) == turns
    by_monotonic = replace(WHOLE, stamps="monotonic")
    other = Retold(by_monotonic, hz=hz)
    other.tell()
    assert len(other.rooms) == 1
