"""Two runs that share no cell since their settings differ: the commands that compare these settings."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.types import Estimate
from clonometer.units import format_bytes

_Condition = Mapping[str, int | str]


def settings_hint(base: RunEstimates, other: RunEstimates) -> str | None:
    """Say by which settings two runs differ, and the commands that compare them.

    None where no workload at one temperature is in both with settings that both know.
    """
    pairs = [
        (first, second)
        for first in _estimates(base)
        for second in _estimates(other)
        if (first.workload, first.temperature) == (second.workload, second.temperature)
        and first.condition.keys() == second.condition.keys()
        and first.condition != second.condition
    ]
    if not pairs:
        return None
    # What differs least, and rather warm than cold.
    first, second = min(pairs, key=lambda pair: (len(_differing(*pair)), pair[0].temperature == "cold"))
    axes = _differing(first, second)
    texts = [{axis: _text(base, axis, row.condition[axis]) for axis in axes} for row in (first, second)]
    values = " and ".join(", ".join(f"{axis}={text}" for axis, text in each.items()) for each in texts)
    common = _shared(base, first.condition, axes)
    in_turn = ["clonometer", "ab", first.workload]
    for option, each in zip(("--a", "--b"), texts, strict=True):
        in_turn += [word for axis, text in each.items() for word in (option, f"{axis}={text}")]
    together = ["clonometer", "run", first.workload]
    for axis in axes:
        together += ["--set", f"{axis}={','.join(dict.fromkeys(each[axis] for each in texts))}"]
    in_turn, together = ([*words, *common] for words in (in_turn, together))
    cells = ["clonometer", "compare", "both.parquet", "--cells", first.cell, second.cell]
    return (
        f"they differ in their settings, {values}; to compare these in pairs: {shlex.join(in_turn)}; or within one "
        f"run: {shlex.join([*together, '--out', 'both.parquet'])} && {shlex.join(cells)}"
    )


def _estimates(side: RunEstimates) -> Iterable[Estimate]:
    return [next(iter(rows.values())) for rows in side.cells.values()]


def _differing(first: Estimate, second: Estimate) -> list[str]:
    return sorted(axis for axis, value in first.condition.items() if second.condition[axis] != value)


def _shared(side: RunEstimates, condition: _Condition, apart: Iterable[str]) -> list[str]:
    """The options that set what both have in common and what is not the default."""
    axes = side.document.catalogue.axes
    return [
        word
        for axis, value in condition.items()
        if axis not in apart and axis in axes and value != axes[axis].default
        for word in ("--set", f"{axis}={_text(side, axis, value)}")
    ]


def _text(side: RunEstimates, axis: str, value: int | str) -> str:
    is_size = side.kind(axis) == "bytes"
    return format_bytes(value) if is_size and isinstance(value, int) else str(value)
