"""The kernel's functions by address, from ``/proc/kallsyms``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

KALLSYMS = Path("/proc/kallsyms")


def kernel_symbols(path: Path = KALLSYMS) -> Callable[[int], str]:
    """Read the table once and return what names an address.

    Where it cannot be read, or all its addresses are hidden (``kptr_restrict``), addresses stay numbers.
    """
    addresses: list[int] = []
    names: list[str] = []
    try:
        with path.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                address, kind, name = line.split(maxsplit=2)
                if kind in "tTwW":
                    addresses.append(int(address, 16))
                    names.append(name.split()[0])
    except (OSError, ValueError):
        return hex
    order = sorted(range(len(addresses)), key=addresses.__getitem__)
    starts = [addresses[index] for index in order]
    if not starts or starts[-1] == 0:
        return hex

    def function(address: int) -> str:
        at = bisect_right(starts, address) - 1
        return names[order[at]] if at >= 0 and starts[at] > 0 else hex(address)

    return function
