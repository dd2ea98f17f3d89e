"""Versions of runtimes, compared by their numbers."""

from __future__ import annotations

import re


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, of which there are none in what is no version.

    Examples
    --------
    >>> numbers("3.14.0rc1"), numbers("unknown")
    ((3, 14, 0), ())
    """
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match.group().split("."))) if match else ()


def covers(since: str | None, until: str | None, version: str) -> bool:
    """Whether a version lies between two, both included; a bound has every version that begins like it.

    Examples
    --------
    >>> covers("3.10", "3.12", "3.12.7"), covers("3.10", None, "3.9.18"), covers(None, "0.5.10", "0.5.10.2")
    (True, False, True)
    """
    wanted = numbers(version)
    if not wanted:
        return False
    low, high = numbers(since or ""), numbers(until or "")
    return (not low or wanted[: len(low)] >= low) and (not high or wanted[: len(high)] <= high)
