"""Wall time over CPU time of work beside others."""

from __future__ import annotations

import math

import pytest

from clonometer.model.stretch import StretchAt, stretch_at, stretches_of
from clonometer.prediction.spans import PredictedTime

MS = 1_000_000
BUSY = [StretchAt(MS, 1.0, 1.0, 1.5), StretchAt(25 * MS, 2.0, 4.0, 8.0)]


def test_a_stretch_is_that_of_its_length() -> None:
    assert stretch_at(BUSY, MS) == BUSY[0]
    between = stretch_at(BUSY, 5 * MS)
    assert (between.low, between.median, between.high) == pytest.approx((1.5, 2.5, 4.75))
    # Beyond the ends as at the ends.
    assert stretch_at(BUSY, 10_000 * MS).median == 4.0
    assert stretch_at(BUSY, 0).median == 1.0
    with pytest.raises(ValueError, match="no stretch"):
        stretch_at([], MS)


def test_quantiles_are_those_of_what_was_measured_and_never_below_one() -> None:
    [short] = stretches_of({MS: [0.999, 1.0, 5.0, *[2.0] * 97]})
    assert (short.low, short.median, short.high) == (2.0, 2.0, 2.0)
    [free] = stretches_of({MS: [0.999] * 20, 5 * MS: []})
    assert (free.low, free.median, free.high) == (1.0, 1.0, 1.0)


def test_uncertainties_of_work_and_of_cpus_add_as_squares_of_logarithms() -> None:
    cpu = PredictedTime(10 * MS, 25 * MS, 50 * MS)
    wall = cpu.stretched(BUSY)
    assert wall.median == 100 * MS
    assert math.log(wall.median / wall.low) == pytest.approx(math.hypot(math.log(2.5), math.log(2)))
    assert math.log(wall.high / wall.median) == pytest.approx(math.hypot(math.log(2), math.log(2)))
    assert cpu.stretched(None) == cpu.stretched([]) == cpu
    free = [StretchAt(MS, 1.0, 1.0, 1.0)]
    assert cpu.stretched(free).high == pytest.approx(cpu.high)
