from __future__ import annotations

import pytest

from clonometer.stats.interval import Interval


def test_an_interval_is_never_nan() -> None:
    with pytest.raises(ValueError, match="finite"):
        Interval(1.0, float("nan"), 2.0, 0.95, "m", 3)


def test_an_interval_is_ordered() -> None:
    with pytest.raises(ValueError, match="low <= value <= high"):
        Interval(3.0, 1.0, 2.0, 0.95, "m", 3)


def test_ends_belong_to_it() -> None:
    interval = Interval(1.5, 1.0, 2.0, 0.95, "m", 3)
    assert interval.contains(1.0)
    assert interval.contains(2.0)
    assert not interval.contains(2.001)


def test_zero_has_no_relative_width() -> None:
    assert Interval(0.0, -1.0, 1.0, 0.95, "m", 3).relative_half_width is None
    assert Interval(-2.0, -3.0, -1.0, 0.95, "m", 3).relative_half_width == 0.5
