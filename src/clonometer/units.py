"""Units: integer nanoseconds and bytes inside, people's units at the edges.

Formatting happens here and nowhere else.
"""

from __future__ import annotations

import re

from clonometer.errors import UsageError

_BYTE_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_BYTE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]i?B?|B)?", re.IGNORECASE)
_SHIFT = {"K": 10, "M": 20, "G": 30, "T": 40}


def parse_bytes(text: str) -> int:
    """Read a size such as ``64MiB``, ``64M``, ``2GB`` or ``4096`` as bytes.

    All prefixes are binary, as everywhere in the project: ``64M``, ``64MB`` and ``64MiB`` are the same.

    Raises
    ------
    UsageError
        If the text is no size, or not a whole number of bytes.

    Examples
    --------
    >>> parse_bytes("64MiB")
    67108864
    """
    match = _BYTE_PATTERN.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a size", "sizes look like 4096, 64KiB, 2MiB or 1GiB")
    number, unit = match.groups()
    shift = _SHIFT.get((unit or "B")[0].upper(), 0)
    value = float(number) * (1 << shift) if "." in number else int(number) << shift
    if value != int(value):
        raise UsageError(f"{text!r} is not a whole number of bytes")
    return int(value)


def format_bytes(size_bytes: int) -> str:
    """Write a size exactly, in the largest binary unit that divides it.

    Examples
    --------
    >>> format_bytes(67108864), format_bytes(1000), format_bytes(0)
    ('64MiB', '1000', '0')
    """
    for name, factor in _BYTE_UNITS:
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{name}"
    return str(size_bytes)


def approximate_bytes(size_bytes: float) -> str:
    """Write a size for reading, to three digits, in the binary unit that suits it.

    Examples
    --------
    >>> approximate_bytes(25_200_000_000)
    '23.5 GiB'
    """
    for name, factor in _BYTE_UNITS:
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {name}"
    return f"{size_bytes:.0f} B"
