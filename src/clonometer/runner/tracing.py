"""Starting the probe under the tracer, which listens to the kernel meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer.answers import Trace
from clonometer.errors import DriverError, InputError
from clonometer.inputs import parse_json
from clonometer.plan.types import Target
from clonometer.protocol.trace import parse_trace
from clonometer.runner.drivers import MONOTONIC, Drivers, bin_folder
from clonometer.runner.measure import timeout_for
from clonometer.runner.process import ANSWER_FD, sound_answer

TRACED_FD = "{traced fd}"
"""Stands in the traced program's words for its own answer's descriptor."""

FIRST_RING_BYTES = 8 << 20
_GROWTH = 4
# Once more may miss none; on a machine that is never at rest it would not.
_AGAIN_WHEN_MISSED = 1
# NTP slews by 500 ppm at most.
_MOST_CLOCK_DRIFT = 0.001
_MOST_RING_BYTES = 128 << 20
_WAYS_TIMEOUT_S = 30


def refusals() -> dict[str, str | None]:
    """Try what this machine lets whoever asks listen to; takes half a second.

    Gives for ``fast``, ``tracepoints`` and ``own`` why it is refused; None where it is not.

    Raises
    ------
    DriverError
        If the tracer cannot be started, or fails.
    """
    answer = _answer(["ways"], _WAYS_TIMEOUT_S, None)
    try:
        reasons = parse_json(answer)
    except InputError as error:
        raise DriverError(f"the tracer wrote what is not JSON: {answer[:80]!r}") from error
    return {str(name): None if why is None else str(why) for name, why in reasons.items()}


def _answer(words: Sequence[str], timeout_s: float, interrupt_fd: int | None, folders: Collection[str] = ()) -> bytes:
    argv = [str(bin_folder() / "tracer"), "--fd", ANSWER_FD, *words]
    # A trace has as many events as there were.
    most_bytes = float("inf")
    return sound_answer(
        "the tracer", argv, timeout_s=timeout_s, most_bytes=most_bytes, interrupt_fd=interrupt_fd, folders=folders
    )


@dataclass
class ProbeTracer:
    """Traces targets, one start of the probe at a time.

    Attributes
    ----------
    drivers, clock
        What there is to start, and the calibration of its clock.
    interrupt_fd
        A descriptor that becomes readable when the user wants to stop.
    grown
        How often there was not enough room for the events and more was taken.
    marks
        Keys that say which places of a program to note, with ``fast`` only (docs/tracing.md).
    marks_refused
        Why they were not noted, the last time that they were asked for.
    """

    drivers: Drivers
    clock: Mapping[str, Any]
    interrupt_fd: int | None = None
    grown: int = 0
    marks: Mapping[str, str] = field(default_factory=dict)
    marks_refused: str | None = None
    _ring_bytes: int = field(default=FIRST_RING_BYTES)

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
        """Start the probe once for ``target``; where events were lost, once more with more room.

        ``refused`` says why this machine does not allow it. Losses that are left are in ``lost``.

        Parameters
        ----------
        how
            ``fast``, ``tracepoints``, ``own``, ``ptrace``, or ``none`` to listen to nothing.
        events
            Among ``tasks``, ``sched``, ``calls``, ``faults``, ``samples``.
        counters
            ``hardware`` or ``software``: read at every event, with ``tracepoints`` only.
        window_ns
            Listen for so long, then not, in turn, with ``fast`` only; None: all the time.
        fault_run
            Of page faults at neighbouring addresses note no more than these, with ``fast`` only; None: all.

        Raises
        ------
        DriverError
            If the probe or the tracer cannot be started, failed, or cannot do what was asked.
        ProtocolError
            If the answer is none.
        """
        keys = {"period_ns": period_ns, "counters": counters, "window_ns": window_ns, "fault_run": fault_run}
        again = _AGAIN_WHEN_MISSED
        while True:
            answer = self._once(target, how, events, keys)
            if answer.lost > answer.missed and self._ring_bytes < _MOST_RING_BYTES:
                self._ring_bytes *= _GROWTH
                self.grown += 1
            elif (answer.missed > 0 or self._clocks_parted(answer)) and again > 0:
                again -= 1
            else:
                return answer

    def _clocks_parted(self, answer: Trace) -> bool:
        """Whether the probe's clock went at another pace than when it was calibrated: a virtual machine stood still.

        Only then events and stamps cannot be put on one line. A clock that is slewed stays far within the limit.
        """
        (first_ticks, first_ns), (last_ticks, last_ns) = answer.pairs
        if answer.refused is not None or answer.stamps != "tsc" or last_ns <= first_ns:
            return False
        pace = (last_ticks - first_ticks) / (last_ns - first_ns)
        return abs(pace * 1e9 / float(self.clock["clock_hz"]) - 1) > _MOST_CLOCK_DRIFT

    def _once(self, target: Target, how: str, events: Sequence[str], more: Mapping[str, object]) -> Trace:
        """Start the tracer once; that the machine refuses it is an answer, that the probe fails an error."""
        driver = self.drivers.choose(target.workload, target.condition)
        request = [TRACED_FD if word == ANSWER_FD else word for word in driver.request(target, self.clock)]
        stamps = self.clock["clock"] if driver.reads(self.clock["clock"]) else MONOTONIC
        keys = {"how": how, "ring_bytes": self._ring_bytes, "stamps": stamps}
        keys |= {"events": ",".join(events) or None, **more, **(self.marks if how == "fast" else {})}
        words = ["trace", *(f"{name}={value}" for name, value in keys.items() if value is not None), "--", *request]
        answer = parse_trace(_answer(words, 3 * timeout_for(target), self.interrupt_fd, driver.folders(target)))
        if answer.refused is None and (answer.done is None or answer.done.status != "ok"):
            why = answer.done.reason if answer.done is not None else f"it ended with status {answer.exit_status}"
            raise DriverError(f"the driver performed no launches of {target.workload}: {why}")
        self.marks_refused = answer.marks_refused or self.marks_refused
        return answer
