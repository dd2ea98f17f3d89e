from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from clonometer.stats.multiplicity import can_reject, holm


def test_it_is_holms_procedure() -> None:
    random = np.random.default_rng(1)
    for size in (1, 2, 30):
        p = random.random(size) ** 3
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_families_are_rows() -> None:
    p = np.random.default_rng(2).random((5, 7))
    assert holm(p) == pytest.approx(np.stack([holm(row) for row in p]))


def test_tests_that_are_not_given_count() -> None:
    assert holm([0.01], tests=10).tolist() == [pytest.approx(0.1)]
    assert holm([0.01, 0.2], tests=4).tolist() == pytest.approx([0.04, 0.6])
    assert holm([]).tolist() == []


def test_what_is_no_family_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.5])
    with pytest.raises(ValueError, match="family of 1"):
        holm([0.1, 0.2], tests=1)


def test_only_tests_that_could_reject_are_counted() -> None:
    assert can_reject([0.008] * 6, 0.05).all()
    assert not can_reject([0.008] * 7, 0.05).any()
    few_and_many = can_reject([0.03] * 10 + [1e-6] * 4, 0.05)
    assert few_and_many.tolist() == [False] * 10 + [True] * 4
    assert can_reject([0.03, 0.2], 0.05).tolist() == [True, False]
    assert can_reject([], 0.05).tolist() == []
