"""The commands that compare in pairs what two runs or cells could not decide, or what two runs do not share."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from clonometer.results.compare.types import BY_COMMANDS, ComparedRow
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.types import Estimate
from clonometer.units import format_bytes
from clonometer.verdicts import Direction, Word

_Condition = Mapping[str, int | str]
#: For a row that is open and differs by less nobody measures again.
_CRUMB = 1.1


def open_row(rows: Iterable[ComparedRow]) -> ComparedRow | None:
    """Choose the row that is most worth deciding: a likely change, else a large one that is open.

    Open first launches are not: there is one a process, and they differ by several times from run to run.
    """
    worth = [
        row
        for row in rows
        if row.verdict == Direction.UNKNOWN and not row.common_shift
        if row.change.word == Word.LIKELY or (row.change.size >= _CRUMB and not row.base.is_first_launch)
    ]
    return max(worth, key=lambda row: (row.change.word == Word.LIKELY, row.change.size), default=None)


def command_of_pairs(side: RunEstimates, row: ComparedRow) -> list[str] | None:
    """Name the `ab` that decides a row of this run; None where its cells differ in workload and settings at once."""
    first, second = row.base, row.other
    temperature = ["--set", f"temperature={second.temperature}"] if second.temperature else []
    if first.cell == second.cell:
        return ["clonometer", "ab", first.workload, *_shared(side, first.condition, ()), *temperature, *BY_COMMANDS]
    if first.workload == second.workload:
        return [*_pairs(side, first, second), *temperature]
    both = {**first.condition, **second.condition}
    if any(first.condition.get(axis, value) != value for axis, value in both.items()):
        return None
    return ["clonometer", "ab", first.workload, second.workload, *_shared(side, both, ()), *temperature]


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
    in_turn = _pairs(base, first, second)
    together = ["clonometer", "run", first.workload]
    for axis in axes:
        together += ["--set", f"{axis}={','.join(dict.fromkeys(each[axis] for each in texts))}"]
    together += common
    cells = ["clonometer", "compare", "both.parquet", "--cells", first.cell, second.cell]
    return (
        f"they differ in their settings, {values}; to compare these in pairs: {shlex.join(in_turn)}; or within one "
        f"run: {shlex.join([*together, '--out', 'both.parquet'])} && {shlex.join(cells)}"
    )


def _pairs(base: RunEstimates, first: Estimate, second: Estimate) -> list[str]:
    """The command for two cells of one workload."""
    axes = _differing(first, second)
    words = ["clonometer", "ab", first.workload]
    for option, row in (("--a", first), ("--b", second)):
        words += [word for axis in axes for word in (option, f"{axis}={_text(base, axis, row.condition[axis])}")]
    return [*words, *_shared(base, first.condition, axes)]


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
