from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clonometer.stats.digest import COUNTED_BELOW, RELATIVE_ERROR, Digest, weighted_quantiles

RANDOM = np.random.default_rng(50)
PROBABILITIES = [0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 1.0]


def _digest(*parts: np.ndarray) -> Digest:
    digest = Digest()
    for part in parts:
        digest.add(part)
    return digest


@given(hnp.arrays(np.int64, st.integers(1, 60), elements=st.integers(0, 2000)), st.integers(0, 60))
def test_small_whole_numbers_are_exact(values: np.ndarray, cut: int) -> None:
    digest = _digest(values[:cut], values[cut:])
    assert digest.quantiles(PROBABILITIES) == pytest.approx(np.quantile(values, PROBABILITIES), rel=1e-12, abs=1e-9)
    assert digest.median_deviation() == pytest.approx(np.median(np.abs(values - np.median(values))))
    assert (digest.count, digest.minimum, digest.maximum) == (values.size, values.min(), values.max())
    assert digest.mean == pytest.approx(values.mean())
    assert digest.relative_error == 0.0


@given(hnp.arrays(np.int64, st.integers(1, 60), elements=st.integers(-(2**60), 2**60)))
def test_other_whole_numbers_are_within_the_stated_error(values: np.ndarray) -> None:
    digest = _digest(values)
    for probability in (0.0, 1.0, 0.5):
        rank = probability * (values.size - 1)
        ordered = np.sort(values).astype(float)
        ends = ordered[int(np.floor(rank))], ordered[int(np.ceil(rank))]
        error = RELATIVE_ERROR * max(abs(end) for end in ends)
        expected = float(np.quantile(ordered, probability))
        assert abs(digest.quantile(probability) - expected) <= error * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("name", ["floats", "mixed", "large", "signed"])
def test_quantiles_are_within_a_thousandth(name: str) -> None:
    values = {
        "floats": np.exp(RANDOM.normal(3, 1, 50_000)),
        "mixed": np.exp(RANDOM.normal(np.log(COUNTED_BELOW), 1, 50_000)).astype(np.int64),
        "large": RANDOM.integers(10**9, 10**12, 50_000),
        "signed": RANDOM.normal(0, 1e6, 50_000),
    }[name]
    digest = _digest(*np.array_split(values, 7))
    places = [0.01, 0.1, 0.25, 0.75, 0.99]
    assert digest.quantiles(places) == pytest.approx(np.quantile(values, places), rel=1e-3)
    assert digest.relative_error == RELATIVE_ERROR <= 1e-3
    deviation = np.median(np.abs(values - np.median(values)))
    assert digest.median_deviation() == pytest.approx(deviation, rel=2e-3)


def test_merging_is_adding() -> None:
    values = np.exp(RANDOM.normal(14, 1, 5000)).astype(np.int64)
    whole, parts = _digest(values), Digest()
    for part in np.array_split(values, 9):
        parts.merge(_digest(part))
    assert [point.tolist() for point in whole.points()] == [point.tolist() for point in parts.points()]
    assert parts.mean == pytest.approx(whole.mean)


def test_what_is_no_number_is_refused() -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            _digest(np.array([1.0, bad]))
    with pytest.raises(ValueError, match="no quantiles"):
        Digest().quantile(0.5)
    digest = _digest(np.zeros(0, np.int64))
    assert digest.count == 0


def test_weighted_quantiles_are_numpys_of_the_repeated_values() -> None:
    places, counts = np.sort(RANDOM.normal(size=20)), RANDOM.integers(0, 5, 20)
    repeated = np.repeat(places, counts)
    assert weighted_quantiles(places, counts, PROBABILITIES) == pytest.approx(np.quantile(repeated, PROBABILITIES))
