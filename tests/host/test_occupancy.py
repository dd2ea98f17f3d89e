"""How much longer work takes beside others: real work on a CPU that is shared."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time

import pytest

from clonometer.host.occupancy import LENGTHS_NS, measure_stretches


def _work_on(cpu: int, until_s: float) -> None:
    os.sched_setaffinity(0, {cpu})
    while time.monotonic() < until_s:
        pass


def test_work_on_a_cpu_that_three_others_want_takes_longer_than_its_cpu_time() -> None:
    allowed = os.sched_getaffinity(0)
    cpu = max(allowed)
    others = [
        multiprocessing.get_context("spawn").Process(target=_work_on, args=(cpu, time.monotonic() + 8))
        for _ in range(3)
    ]
    for other in others:
        other.start()
    try:
        os.sched_setaffinity(0, {cpu})
        time.sleep(0.5)
        measured = measure_stretches()
    finally:
        os.sched_setaffinity(0, allowed)
        for other in others:
            other.kill()
            other.join()
    assert measured.keys() == LENGTHS_NS.keys()
    longest = measured[max(LENGTHS_NS)]
    # A fair quarter of the CPU is 4; work of 25 ms cannot be done in one turn.
    assert longest
    assert statistics.median(longest) > 2
    assert all(ratio > 0.9 for ratios in measured.values() for ratio in ratios)


def test_it_ends_on_a_machine_that_gives_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonometer.host.occupancy._MOST_S", 0.0)
    assert measure_stretches() == {length_ns: [] for length_ns in LENGTHS_NS}
