from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clonometer.units import (
    format_bytes,
    format_duration,
    format_duration_interval,
    format_number,
    format_ratio,
    parse_bytes,
    supported_decimals,
)


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [
        (0.4, "0.400 ns"),
        (9.84, "9.84 ns"),
        (999.4, "999 ns"),
        (999.96, "1.00 µs"),
        (56_312, "56.3 µs"),
        (999_950, "1.00 ms"),
        (1_270_400, "1.27 ms"),
        (2.5e9, "2.50 s"),
        (125e9, "125 s"),
        (-1500, "-1.50 µs"),
        (0, "0 ns"),
    ],
)
def test_durations_have_three_digits_and_their_unit(value_ns: float, text: str) -> None:
    assert format_duration(value_ns) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (55_900, 56_800, "56.3 µs"),
        (54_000, 58_000, "56 µs"),
        (30_000, 90_000, "60 µs"),
        (56_311, 56_313, "56.31 µs"),
    ],
)
def test_durations_have_no_more_digits_than_their_interval(low: float, high: float, text: str) -> None:
    assert format_duration(56_312, low, high) == text


@pytest.mark.parametrize(
    ("resolution", "text"), [(1, "< 1 ns"), (0.5, "< 0.5 ns"), (40, "< 40 ns"), (2500, "< 2.5 µs")]
)
def test_what_is_below_resolution_says_so(resolution: float, text: str) -> None:
    assert format_duration(resolution / 2, resolution_ns=resolution) == text
    assert format_duration_interval(resolution / 2, 0, resolution, resolution) == text


def test_intervals_share_one_unit_and_digit() -> None:
    assert format_duration_interval(999_000, 950_000, 1_050_000) == "1,000 (950 to 1,050) µs"
    assert format_duration_interval(13.1e6, 12.93e6, 13.27e6) == "13.1 (12.9 to 13.3) ms"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((3.0912, 2.913, 3.298), "3.1 (2.9 to 3.3)"),
        ((90.4, 85.1, 95.7), "90 (85 to 96)"),
        ((0.598, 0.581, 0.622), "0.60 (0.58 to 0.62)"),
        ((1.0312, 1.004, 1.054), "1.03 (1.004 to 1.05)"),
        ((1.6, 0.5, 8.0), "2 (0.5 to 8)"),
        ((147.2, 141.0, 152.0), "147 (141 to 152)"),
    ],
)
def test_ratios(numbers: tuple[float, float, float], text: str) -> None:
    assert format_ratio(*numbers) == text


@settings(deadline=None)
@given(st.floats(1e-3, 1e6), st.floats(1e-6, 1.0))
def test_a_printed_number_is_within_its_interval(value: float, share: float) -> None:
    low, high = value * (1 - share / 2), value * (1 + share / 2)
    printed = float(format_number(value, low, high))
    # Three digits are the most, so that a very narrow interval may be missed by half of the last one.
    slack = max((high - low) / 2, 0.51 * 10 ** (math.floor(math.log10(value)) - 2))
    assert abs(printed - value) <= slack


def test_a_lopsided_interval_does_not_round_its_value_away() -> None:
    """Digits follow the nearer end: a median of 24 with an outlying upper end of 2900 is no 0."""
    assert format_number(24, 16, 2900) == "24"
    assert format_duration(31_000, 22_000, 2_844_000) == "31 µs"
    assert supported_decimals(24_000, 16_000, 2_900_000, "µs") == 0


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("4096", 4096),
        ("4096B", 4096),
        ("3KiB", 3 << 10),
        ("64MiB", 64 << 20),
        ("64M", 64 << 20),
        ("1.5GiB", 3 << 29),
        ("2TiB", 2 << 40),
        ("1GB", 10**9),
        ("1.1GB", 11 * 10**8),
        ("64 kB", 64_000),
        ("1g", 1 << 30),
    ],
)
def test_sizes_are_read_as_coreutils_does_and_written_as_they_are_read(text: str, size_bytes: int) -> None:
    assert parse_bytes(text) == size_bytes
    assert parse_bytes(format_bytes(size_bytes)) == size_bytes
