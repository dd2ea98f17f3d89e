"""Durations in bounded memory: exact at first, then within a 256th."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clonometer.tracing.census import durations
from clonometer.tracing.census.durations import Durations

SOME = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=200)


@pytest.fixture
def blurred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durations, "MOST_EXACT", 3)


def test_few_are_exact_and_their_median_has_its_interval() -> None:
    times = Durations(range(100))
    assert (len(times), times.total_ns, times.median_ns) == (100, 4950, 49.5)
    assert times.median_ends_ns == (39.0, 60.0)
    assert Durations([5, 1, 3]).median_ends_ns == (1.0, 5.0)
    assert Durations().median_ns is None
    with pytest.raises(IndexError):
        _ = Durations().median_ends_ns


@pytest.mark.usefixtures("blurred")
@settings(deadline=None)
@given(SOME, SOME)
def test_many_keep_their_order_within_a_256th(left: list[int], right: list[int]) -> None:
    times = Durations(left)
    times.extend(Durations(right))
    both = left + right
    assert (len(times), times.total_ns) == (len(both), sum(both))
    assert times.median_ns == pytest.approx(statistics.median(both), rel=1 / 250)
    low_ns, high_ns = times.median_ends_ns
    exact = Durations()
    exact._exact.extend(both)  # More than are kept exact here.
    assert (low_ns, high_ns) == pytest.approx(exact.median_ends_ns, rel=1 / 250)


@pytest.mark.usefixtures("blurred")
def test_many_take_no_more_room_than_few() -> None:
    times = Durations(10_000 + number % 5_000 for number in range(100_000))
    assert len(times._buckets) < 128


def test_those_at_a_bound_are_within_it() -> None:
    assert Durations([1, 10, 10, 11, 1000]).at_most([10, 100]) == [3, 4]
    many = Durations([1] * 5000 + [200] * 5000 + [10**6])
    assert many.at_most([1, 199, 200, 10**5]) == [5000, 5000, 10_000, 10_000]
