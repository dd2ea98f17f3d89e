"""Processes of which no launch was traced completely: left out, counted and made up for, with an end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.fake_trace import FakeTracer, fork_trace
from tests.tracing.test_anatomy import target
from tests.tracing.test_overhead import six_windows

from clonometer.errors import UnavailableError
from clonometer.tracing.anatomy import TraceOptions, explain


class DisturbedTracer(FakeTracer):
    """Hands out a disturbed trace the first times that ``how`` is asked for when the budget was spent's events."""

    def __init__(self, traces: dict[str, Any], how: str, disturbed: Any, *, times: int) -> None:
        super().__init__(traces)
        self.how, self.disturbed, self.left = how, disturbed, times

    def trace(self, *args: Any, **options: Any) -> Any:
        trace = super().trace(*args, **options)
        if self.asked[-1] != self.how or self.events[-1][1] == ("tasks", "sched", "calls", "faults") or not self.left:
            return trace
        self.left -= 1
        return self.disturbed


@pytest.mark.parametrize("turns", [False, True], ids=["processes, alternately", "turns within them"])
def test_a_process_of_which_nothing_was_seen_whole_is_left_out_counted_and_made_up_for(turns: bool) -> None:
    good, how = (six_windows(), "fast in turns") if turns else (fork_trace(), "fast")
    disturbed = replace(good, whole=(10**15, None), lost=7)
    traces: dict[str, Any] = {"fast": good, "none": fork_trace("none"), how: good}
    asked = target("launch.fork", "temperature=warm")
    # The first listens closely, the second and all others are the budget's: of these the first is disturbed.
    tracer = DisturbedTracer(traces, how, disturbed, times=1)
    explanation = explain(tracer, asked, TraceOptions(processes=3))
    undisturbed = explain(FakeTracer(traces), asked, TraceOptions(processes=3))
    assert (explanation.launches, explanation.lost) == (undisturbed.launches, 0)
    assert explanation.budget == undisturbed.budget
    [note] = [note for note in explanation.notes if "left out" in note]
    assert note.startswith("1 of 4 processes was left out")
    assert not [note for note in undisturbed.notes if "left out" in note]
    # As many as were asked for may be started in vain, and not one more.
    few = explain(DisturbedTracer(traces, how, disturbed, times=3), asked, TraceOptions(processes=3))
    assert few.launches.processes == 3
    hopeless = DisturbedTracer(traces, how, disturbed, times=100)
    with pytest.raises(UnavailableError, match=r"in 4 of 4 processes every launch of launch\.fork was disturbed"):
        explain(hopeless, asked, TraceOptions(processes=3))
