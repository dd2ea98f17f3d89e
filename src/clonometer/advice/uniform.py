"""Numbers at random that Python and the page's script draw alike, so that both simulate the same requests."""

from __future__ import annotations

import math
from collections.abc import Callable

_MASK = 0xFFFFFFFF


def uniform(seed: int) -> Callable[[], float]:
    """Make what draws numbers from 0 to below 1: mulberry32, whose state are 32 bits.

    Examples
    --------
    >>> draw = uniform(1)
    >>> round(draw(), 6), round(draw(), 6)
    (0.627074, 0.002736)
    """
    state = seed & _MASK

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & _MASK
        mixed = ((state ^ (state >> 15)) * (state | 1)) & _MASK
        mixed ^= (mixed + (((mixed ^ (mixed >> 7)) * (mixed | 61)) & _MASK)) & _MASK
        return (mixed ^ (mixed >> 14)) / 4294967296.0

    return draw


def exponential(draw: Callable[[], float]) -> float:
    """Draw a number of mean 1, by the inverse of its distribution."""
    return -math.log(1.0 - draw())


def normal(draw: Callable[[], float]) -> float:
    """Draw a number from the standard normal distribution, by Box and Muller."""
    return math.sqrt(2.0 * exponential(draw)) * math.cos(2.0 * math.pi * draw())
