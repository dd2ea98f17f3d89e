"""What all rows of two runs changed by together (the machine, or what all share): shown beside each change, and kept.

`clonometer.results.check.machine` takes it off, which `check` needs: it asks about the program. Here the question is
what the two runs differ by, and another machine or kernel is an answer to that; so the reader is told, and judges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from clonometer.families import family
from clonometer.results.compare.pairing import kind_of
from clonometer.results.compare.types import FASTER, SLOWER, CommonShift, ComparedRow
from clonometer.stats.common_drift import LEAST_KINDS

ALL, CONTROLS = "all", "control"
#: A row is like the others only where these moved at least this share of its own way (on the logarithm).
_LEAST_WAY = 0.5

_Changes = Mapping[str, float]


def beside_the_rest(
    rows: Sequence[ComparedRow], minimum_effect: float
) -> tuple[tuple[ComparedRow, ...], tuple[CommonShift, ...]]:
    """Say of each row what all other kinds of process did meanwhile, and of all together what they did.

    Parameters
    ----------
    rows
        Of two runs, with their verdicts.
    minimum_effect
        The least change that gets a verdict, as a share.

    Returns
    -------
    rows
        With ``rest`` and ``like_rest``.
    shifts
        Of cold and of warm rows where there are 6 kinds or more of them, else of all; and of the controls.
    """
    groups = {name: _changes(rows, name) for name in ("cold", "warm", ALL, CONTROLS)}
    with_rest = [_beside(row, groups, minimum_effect) for row in rows]
    apart = [name for name in ("cold", "warm") if len(groups[name]) > LEAST_KINDS]
    names = apart or ([ALL] if len(groups[ALL]) > LEAST_KINDS else [])
    shifts = [_shift(name, groups[name]) for name in names]
    return tuple(with_rest), tuple(shifts + ([_shift(CONTROLS, groups[CONTROLS])] if groups[CONTROLS] else []))


def _changes(rows: Iterable[ComparedRow], group: str) -> _Changes:
    """The change of each kind of process as a logarithm: the median of its rows."""
    by_kind: dict[str, list[float]] = {}
    for row in rows:
        if row.ratio is None or not row.is_time or family(row.other.family).control != (group == CONTROLS):
            continue
        if group in (ALL, CONTROLS, row.other.temperature):
            by_kind.setdefault(kind_of(row.other), []).append(math.log(row.ratio))
    return {kind: median(changes) for kind, changes in by_kind.items()}


def _shift(name: str, changes: _Changes) -> CommonShift:
    values = list(changes.values())
    return CommonShift(name, math.exp(median(values)), math.exp(min(values)), math.exp(max(values)), len(values))


def _beside(row: ComparedRow, groups: Mapping[str, _Changes], minimum_effect: float) -> ComparedRow:
    if row.ratio is None or not row.is_time or family(row.other.family).control:
        return row
    kind_of_row = kind_of(row.other)
    for name in (row.other.temperature, ALL):
        others = [change for kind, change in groups.get(name or ALL, {}).items() if kind != kind_of_row]
        if len(others) >= LEAST_KINDS:
            rest = math.exp(median(others))
            return replace(row, rest=rest, like_rest=_is_like(row, rest, minimum_effect))
    return row


def _is_like(row: ComparedRow, rest: float, minimum_effect: float) -> bool:
    """Whether a row that changed would have no verdict, had it not gone the way that all others went."""
    if row.verdict not in (SLOWER, FASTER) or row.ratio is None or row.low is None or row.high is None:
        return False
    if math.log(rest) / math.log(row.ratio) < _LEAST_WAY:
        return False
    beyond = row.ratio / rest
    overtaken = (beyond > 1) != (row.ratio > 1)
    return overtaken or row.low <= rest <= row.high or max(beyond, 1 / beyond) - 1 < minimum_effect
