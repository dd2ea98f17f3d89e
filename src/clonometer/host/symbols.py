"""The kernel's functions by address, from ``/proc/kallsyms``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

KALLSYMS = Path("/proc/kallsyms")


def kernel_symbols() -> Callable[[int], str]:
    """Read the table once and return what names an address.

    Where it cannot be read, or all its addresses are hidden (``kptr_restrict``), addresses stay numbers.
    """
    symbols: list[tuple[int, str]] = []
    try:
        with KALLSYMS.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                address, kind, name = line.split(maxsplit=2)
                if kind in "tTwW":
                    symbols.append((int(address, 16), name.split()[0]))
    except (OSError, ValueError):
        return hex
    address_of = itemgetter(0)
    symbols.sort(key=address_of)
    if not symbols or symbols[-1][0] == 0:
        return hex

    def function(address: int) -> str:
        at = bisect_right(symbols, address, key=address_of) - 1
        return symbols[at][1] if at >= 0 and symbols[at][0] > 0 else hex(address)

    return function
