from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clonometer.plan.limits import (
    estimated_launch_ns,
    estimated_process_ns,
    limits_conflict,
    limits_for,
    read_limits,
    sparing,
)
from clonometer.plan.types import Limits

LIMITS = st.builds(
    Limits,
    processes=st.integers(1, 40),
    samples=st.integers(1, 500),
    blocks=st.integers(1, 9),
    warmup=st.integers(0, 50),
    block_limit_ns=st.integers(0, 10**9),
)
SIZES = st.integers(0, 1 << 34)


def test_milliseconds_become_nanoseconds():
    assert read_limits({"block_limit_ms": 3, "warmup": 0}) == {"block_limit_ns": 3_000_000, "warmup": 0}


def test_a_conflict_is_the_same_limit_with_another_value():
    assert limits_conflict({"samples": 1, "blocks": 2}, {"samples": 1, "warmup": 3}) is None
    assert limits_conflict({"samples": 1, "blocks": 2}, {"blocks": 3}) == "blocks"


@given(LIMITS, SIZES)
def test_easing_never_raises_a_limit_and_leaves_processes(base, size):
    eased = limits_for({"parent_bytes": size}, base)
    assert eased.processes == base.processes
    assert eased.warmup <= base.warmup
    assert eased.blocks <= base.blocks


@given(SIZES, SIZES)
def test_more_memory_never_makes_a_launch_cheaper(first, second):
    less, more = sorted([first, second])
    assert estimated_launch_ns({"parent_bytes": less}) <= estimated_launch_ns({"parent_bytes": more})


def test_cold_caches_cost_the_time_until_they_are_cold():
    hot = estimated_launch_ns({"caches": "hot", "idle_ns": 100_000_000, "thrash_bytes": 1 << 30})
    idle = {"caches": "idle", "idle_ns": 100_000_000, "concurrency": 4}
    # Launchers idle at the same time.
    assert estimated_launch_ns(idle) == 100_000_000 + 4 * hot
    walked = {"caches": "thrashed", "thrash_bytes": 1 << 30}
    assert 100_000_000 < estimated_launch_ns(walked) - hot < 1_000_000_000
    assert estimated_process_ns(walked, Limits(samples=1, blocks=1, warmup=0)) > estimated_launch_ns(walked) * 2


def test_easing_keeps_a_process_with_much_memory_short():
    condition = {"parent_bytes": 1 << 30}
    eased = estimated_process_ns(condition, limits_for(condition))
    assert eased < estimated_process_ns(condition, Limits()) / 4


def test_a_block_limit_ends_the_block_after_three_samples_at_least():
    condition = {"parent_bytes": 0}
    launch_ns = estimated_launch_ns(condition)
    long = estimated_process_ns(condition, Limits(samples=1000, blocks=1, warmup=0, block_limit_ns=0))
    short = estimated_process_ns(condition, Limits(samples=1000, blocks=1, warmup=0, block_limit_ns=1))
    assert round(long - short) == round(997 * launch_ns)


def test_the_more_sparing_limits_have_the_most_processes():
    first = Limits(processes=12, samples=200, blocks=3, warmup=5, block_limit_ns=50)
    second = Limits(processes=20, samples=100, blocks=3, warmup=20, block_limit_ns=70)
    assert sparing(first, second) == Limits(processes=20, samples=100, blocks=3, warmup=5, block_limit_ns=50)
    boundless = Limits(block_limit_ns=0)
    assert sparing(boundless, Limits(block_limit_ns=9)).block_limit_ns == 9
    assert sparing(boundless, boundless).block_limit_ns == 0
