"""Clocks, measured for real: what must hold whatever the machine's clocks cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests import probe

from clonometer.results.rows.source import null_mask

pytestmark = pytest.mark.real

ENTRIES = {entry["id"]: entry for entry in probe.catalogue()["workloads"]}
GETTIME = [name for name, entry in ENTRIES.items() if "path" in entry["axes"]]
CPUS = sorted(os.sched_getaffinity(0))
# Clock sources that the vDSO reads itself; with any other both paths enter the kernel.
READ_IN_USER_SPACE = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")


def clock_source() -> str:
    return Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip()


def one_cpu(cpu: int) -> Callable[[], None]:
    return lambda: os.sched_setaffinity(0, {cpu})


def test_every_clock_of_the_laboratory_is_there() -> None:
    names = ("realtime", "monotonic", "monotonic_raw", "boottime", "realtime_coarse")
    names += ("process_cputime", "thread_cputime")
    assert sorted(GETTIME) == sorted(f"clock.{name}" for name in names)
    assert {"clock.rdtsc", "clock.rdtscp", "clock.across_cpus", "clock.used"} <= set(ENTRIES)


@pytest.mark.skipif(clock_source() not in READ_IN_USER_SPACE, reason="the vDSO cannot read this clock source")
@pytest.mark.parametrize("workload", ["clock.realtime", "clock.monotonic", "clock.realtime_coarse"])
def test_a_system_call_costs_more_than_the_vdso(workload: str) -> None:
    cheapest = {}
    for path in ("vdso", "syscall"):
        (block,) = probe.ask(f"workload={workload}", f"path={path}", "samples=5", "blocks=1", "warmup=1").blocks
        cheapest[path] = block.columns["cost_ns"].min()
    assert cheapest["syscall"] > cheapest["vdso"]


@pytest.mark.parametrize("workload", ["clock.monotonic", "clock.monotonic_raw", "clock.boottime"])
@pytest.mark.parametrize("path", ["vdso", "syscall"])
def test_a_monotonic_clock_never_goes_back(workload: str, path: str) -> None:
    (block,) = probe.ask(f"workload={workload}", f"path={path}", "samples=10", "blocks=1").blocks
    assert not block.columns["backward_steps"].any()


def test_a_coarse_clock_is_as_coarse_as_it_says() -> None:
    (block,) = probe.ask("workload=clock.realtime_coarse", "samples=3", "blocks=1", "warmup=0").blocks
    stated = block.columns["stated_resolution_ns"]
    assert (stated == os_resolution()).all()
    # NTP may slew the clock while it ticks, by no more than 500 ppm; a late tick makes a step longer.
    assert (block.columns["step_ns"] >= stated * 0.99).all()


@pytest.mark.parametrize("clock", ["realtime", "monotonic", "process_cputime", "chrono"])
def test_a_fresh_program_reads_a_clock_twice(clock: str) -> None:
    """The pair takes time, and less than the program that is started for it."""
    begin_ns = time.monotonic_ns()
    answer = probe.ask("workload=clock.first_pair", f"read_clock={clock}", "samples=9", "blocks=1", "warmup=0")
    each_ns = (time.monotonic_ns() - begin_ns) / 9
    if answer.done.status == "skipped":
        pytest.skip("no C++ compiler built its program")
    (block,) = answer.blocks
    assert not block.columns["errno"].any()
    assert 0 < np.median(block.columns["pair_ns"]) < each_ns


def os_resolution() -> int:
    coarse = getattr(time, "CLOCK_REALTIME_COARSE", 5)
    return round(time.clock_getres(coarse) * 1e9)


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU")
def test_the_offset_between_two_cpus_is_bounded_by_the_exchange() -> None:
    pairs = len(CPUS) * (len(CPUS) - 1) // 2
    rows = min(2 * pairs, 200)
    (block,) = probe.ask("workload=clock.across_cpus", f"samples={rows}", "blocks=1", "warmup=0").blocks
    columns = {name: column[block.columns["errno"] == 0] for name, column in block.columns.items()}
    assert set(columns["cpu_a"]) | set(columns["cpu_b"]) <= set(CPUS)
    assert (columns["cpu_a"] < columns["cpu_b"]).all()
    every = {*zip(block.columns["cpu_a"], block.columns["cpu_b"], strict=True)}
    assert len(every) == min(pairs, rows)
    width = columns["offset_high_ns"] - columns["offset_low_ns"]
    assert (width >= 0).all()
    # Rounding apart, the bounds are no wider than the fastest exchange.
    assert (width <= columns["round_trip_ns"] + 3).all()


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU")
def test_the_offset_is_the_same_to_and_fro_within_the_bounds() -> None:
    """Two measurements of the same pair bound the same number, so that their intervals overlap."""
    (block,) = probe.ask("workload=clock.across_cpus", "samples=40", "blocks=1").blocks
    first = block.columns["errno"] == 0
    first &= (block.columns["cpu_a"] == CPUS[0]) & (block.columns["cpu_b"] == CPUS[1])
    low, high = block.columns["offset_low_ns"][first], block.columns["offset_high_ns"][first]
    assert low.max() <= high.min()


def test_one_cpu_has_nothing_to_agree_with() -> None:
    answer = probe.ask("workload=clock.across_cpus", before=one_cpu(CPUS[0]))
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "one CPU" in answer.done.reason


def test_the_counter_states_no_resolution() -> None:
    if not ENTRIES["clock.rdtscp"]["available"]:
        pytest.skip(ENTRIES["clock.rdtscp"]["reason"])
    (block,) = probe.ask("workload=clock.rdtscp", "samples=3", "blocks=1").blocks
    assert null_mask(block.columns["stated_resolution_ns"]).all()
    assert np.isfinite(block.columns["cost_ns"]).all()
