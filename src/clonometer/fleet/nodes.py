"""Nodes of a cluster that somebody else schedules: how many are asked for, and how long one waits for them."""

from __future__ import annotations

from clonometer.errors import UsageError

MOST_NODES = 4096
#: How long a job of Slurm may wait for its turn.
QUEUED_S = 3600.0


def name_and_count(text: str, what: str, option: str) -> tuple[str, int]:
    """Read ``NAME`` or ``NAME:N``: what is asked for nodes, and how many of them are wanted, 0 for all.

    Raises
    ------
    UsageError
        If it is neither; it names ``what`` that should be, and the ``option``.

    Examples
    --------
    >>> name_and_count("short", "partition", "--slurm"), name_and_count("short:3", "partition", "--slurm")
    (('short', 0), ('short', 3))
    """
    name, colon, count = text.partition(":")
    is_count = count.isascii() and count.isdecimal() and 0 < int(count) <= MOST_NODES
    if not name or (colon and not is_count):
        raise UsageError(f"{text!r} is no {what}", f"write {option} NAME, or {option} NAME:N for N nodes")
    return name, int(count or 0)
