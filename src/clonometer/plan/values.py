"""Values of axes: what a file or a command line gives, checked against the catalogue."""

from __future__ import annotations

import os
import re
from pathlib import Path

from clonometer.errors import PlanError, UsageError, unknown
from clonometer.families import axis as axis_of
from clonometer.fields import shown
from clonometer.plan.cell import AxisValue, CatalogueAxis
from clonometer.units import format_bytes, parse_bytes


def read_value(axis: CatalogueAxis, given: object) -> AxisValue:
    """Check one value against its axis: sizes become bytes, counts whole numbers.

    What was given is an integer or a text: for ``bytes`` one such as ``64MiB``, for ``count`` one such as
    ``2 per cpu``, so many for each CPU that this process may use.

    Raises
    ------
    PlanError
        If the axis has no such value; it names the axis, what it takes, and the nearest match of a choice.

    Examples
    --------
    >>> read_value(CatalogueAxis("parent_bytes", "bytes", 0), "64MiB")
    67108864
    """
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise _refused(axis, given)
    if axis.kind in ("bytes", "count"):
        return _number(axis, given)
    if not isinstance(given, str) or not given:
        raise _refused(axis, given)
    if axis.kind == "choice" and given not in axis.values:
        near = unknown(f"value of {axis.name}", given, axis.values)
        raise PlanError(near.message, near.hint)
    if axis.form is not None and not re.fullmatch(axis.form, given):
        raise _refused(axis, given)
    if axis_of(axis.name).programs:
        _check_program(axis, given)
    return given


def _check_program(axis: CatalogueAxis, given: str) -> None:
    """Refuse a command line where a program and its arguments stand between colons."""
    path, *arguments = _UNESCAPED_SPACE.split(given.strip())
    if arguments and "/" in path and not {":", "\0"} & set(given) and not Path(given).exists():
        meant = ":".join([path, *(word.replace(":", "\\:") for word in arguments)])
        raise PlanError(
            f"{axis.name}={given}: there is no such program",
            f"arguments go after colons: {axis.name}={meant} (a space of the path itself: \\ )",
        )


def _number(axis: CatalogueAxis, given: int | str) -> int:
    number = given
    if isinstance(number, str):
        try:
            number = parse_bytes(number) if axis.kind == "bytes" else _count(number)
        except (UsageError, ValueError):
            raise _refused(axis, given) from None
    if number > _MOST:
        raise PlanError(f"{axis.name} = {shown(given)}: the maximum is {_MOST}", axis.summary or None)
    least = axis.minimum or 0
    if number < least:
        lowest = format_bytes(least) if axis.kind == "bytes" else str(least)
        raise PlanError(f"{axis.name} = {shown(given)}: the minimum is {lowest}", axis.summary or None)
    return number


def _count(text: str) -> int:
    per_cpu = _PER_CPU.fullmatch(text.strip())
    return int(per_cpu[1]) * len(os.sched_getaffinity(0)) if per_cpu else int(text)


# What drivers, and the columns of run files, can hold.
_MOST = (1 << 63) - 1
_UNESCAPED_SPACE = re.compile(r"(?<!\\)\s+")
_PER_CPU = re.compile(r"(\d+) *per *cpu")
_TAKES = {
    "bytes": "a size such as 4096, 64KiB or 2MiB",
    "count": "a whole number, or one such as '2 per cpu'",
    "text": "a text",
}


def values_text(axis: CatalogueAxis) -> str:
    """Say what an axis takes, in a few words.

    Examples
    --------
    >>> values_text(CatalogueAxis("placement", "choice", "pinned", values=("pinned", "free")))
    'one of pinned, free'
    """
    if axis.form is not None:
        return f"a text like {axis.form}"
    if axis.name.endswith("_ns"):
        return "a whole number of ns"
    return f"one of {', '.join(axis.values)}" if axis.kind == "choice" else _TAKES[axis.kind]


def _refused(axis: CatalogueAxis, given: object) -> PlanError:
    return PlanError(f"{axis.name} = {shown(given)}: {axis.name} takes {values_text(axis)}", axis.summary or None)
