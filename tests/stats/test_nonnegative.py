from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from clonometer.stats.nonnegative import nonnegative_least_squares


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, count = 30, int(random.integers(1, 15))
    columns = random.normal(size=(rows, count)) + random.random()
    values = columns @ random.normal(size=count) + random.normal(size=rows)
    units = 10.0 ** random.integers(-6, 6, size=count)
    expected = nnls(columns, values)[0]
    actual = nonnegative_least_squares(columns * units, values) * units
    assert actual == pytest.approx(expected, abs=1e-8)


def test_columns_of_zeros_and_of_the_same_content() -> None:
    columns = np.array([[1.0, 0, 1], [2.0, 0, 2], [3.0, 0, 3]])
    solved = nonnegative_least_squares(columns, [2, 4, 6])
    assert (solved >= 0).all()
    assert solved[1] == 0
    assert columns @ solved == pytest.approx([2, 4, 6])


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        nonnegative_least_squares([[1, 2]], [1, 2])
