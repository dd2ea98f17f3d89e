"""What a run brings to comparisons, and which of its rows have a partner in another run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from clonometer.errors import RunFileError
from clonometer.results.compare.pairing import Defaults, incomparable_cells
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.observed import observe
from clonometer.results.rows.run_estimates import RowKey, RunEstimate, RunEstimates
from clonometer.results.rows.source import RunSource
from clonometer.results.types import Estimate, LeftOut


@dataclass(frozen=True)
class RowPair:
    """A row that is to be compared, as each run of the two sides has it.

    ``same_run``: both are rows of one run.
    """

    bases: tuple[RunEstimate, ...]
    others: tuple[RunEstimate, ...]
    same_run: bool = False

    @property
    def base(self) -> RunEstimate:
        """The row in the first run of the base."""
        return self.bases[0]

    @property
    def other(self) -> RunEstimate:
        """The row in the first run of the other side."""
        return self.others[0]

    @property
    def several(self) -> bool:
        """Whether a side has more runs than one, so that runs are the units."""
        return len(self.bases) + len(self.others) > 2


def read_side(run: RunSource, name: str) -> RunEstimates:
    """Read what a run brings to comparisons: every row with a sample.

    Raises
    ------
    RunFileError
        If samples and document do not belong together.
    """
    try:
        rows = [row for row in estimate_cells(observe(run), run.document, described=False) if _says_something(row)]
    except RunFileError as error:
        # Several files are read: each error names its own.
        raise RunFileError(
            error.message if name in error.message else f"{name}: {error.message}", error.hint
        ) from error
    return RunEstimates(rows, run.document, name)


def _says_something(estimate: Estimate) -> bool:
    """Whether a row has a sample, and is nothing that only explains another: that would be a test for nothing.

    Pauses of a collector are compared where half of the launches have any.
    """
    explains = estimate.stage is not None or estimate.median_ns == 0
    return estimate.n_samples > 0 and not (estimate.detail and explains)


def is_same_run(first: RunEstimates, second: RunEstimates) -> bool:
    """Whether two files hold the same run: begun at the same microsecond, with the same seed."""
    keys = [(side.document.started, side.document.seed) for side in (first, second)]
    return first is second or keys[0] == keys[1]


def match_groups(bases: Sequence[RunEstimates], others: Sequence[RunEstimates]) -> tuple[list[RowPair], list[LeftOut]]:
    """Find the rows that all runs of two sides have, and say what is left out and why."""
    matches, left_out = match_runs(bases[0], others[0])
    for side in (*bases[1:], *others[1:]):
        further, missing = match_runs(bases[0], side)
        kept = {match.base.name for match in further}
        left_out += [entry for entry in missing if entry not in left_out]
        matches = [match for match in matches if match.base.name in kept]
    return [
        alike(
            replace(
                match,
                bases=tuple(_row(side, match.base) for side in bases),
                others=tuple(_row(side, match.base) for side in others),
            )
        )
        for match in matches
    ], left_out


def alike(pair: RowPair) -> RowPair:
    """Take all launches of each run where one of them has too few with the core to themselves, or older ones none."""
    rows = (*pair.bases, *pair.others)
    if all(row.of_all is None for row in rows) or all(row.of_all is not None for row in rows):
        return pair
    return replace(
        pair,
        bases=tuple(row.of_all or row for row in pair.bases),
        others=tuple(row.of_all or row for row in pair.others),
    )


def _row(side: RunEstimates, like: RunEstimate) -> RunEstimate:
    return side.cells[like.cell][like.key]


def match_runs(base: RunEstimates, other: RunEstimates) -> tuple[list[RowPair], list[LeftOut]]:
    """Find the rows that two runs have in common, and say what is left out and why."""
    matches: list[RowPair] = []
    left_out: list[LeftOut] = []
    defaults = base.defaults, other.defaults
    for cell, rows in base.cells.items():
        if cell not in other.cells:
            left_out.append(LeftOut(cell, f"only in {base.name}"))
            continue
        matched, missing = match_cells(
            rows, other.cells[cell], cell, same_run=False, defaults=defaults, moved=_moved(base, other)
        )
        matches += matched
        left_out += missing
    left_out += [LeftOut(cell, f"only in {other.name}") for cell in other.cells if cell not in base.cells]
    return matches, left_out


def _moved(base: RunEstimates, other: RunEstimates) -> dict[str, str]:
    """Quantities that end at another point in the two runs (``point`` of docs/protocol.md), each with the reason."""
    first, second = (side.document.catalogue.quantities for side in (base, other))
    points = {name: (first[name].point, second[name].point) for name in first.keys() & second.keys()}
    return {
        name: f"{name} ends at {ends[0] or 'the point of earlier versions'} in {base.name}, "
        f"at {ends[1] or 'the point of earlier versions'} in {other.name}"
        for name, ends in points.items()
        if ends[0] != ends[1]
    }


def match_cells(
    base: Mapping[RowKey, RunEstimate],
    other: Mapping[RowKey, RunEstimate],
    name: str,
    *,
    same_run: bool,
    defaults: tuple[Defaults, Defaults] = ({}, {}),
    moved: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[RowPair], list[LeftOut]]:
    """Find the rows that two cells have in common, and say what is left out and why.

    ``name`` is what to call the cells; ``defaults`` and ``moved`` are as in `incomparable_cells` and `match_runs`.
    """
    first, second = next(iter(base.values())), next(iter(other.values()))
    reason = incomparable_cells(first, second, same_run=same_run, defaults=defaults)
    if reason is not None:
        return [], [LeftOut(name, reason)]
    matches, left_out = [], []
    for key, row in base.items():
        if key not in other:
            continue
        its = other[key]
        if row.unit != its.unit or row.stage != its.stage:
            left_out.append(LeftOut(name, f"{key[0]} does not mean the same in both"))
        elif key[0] in moved:
            left_out.append(LeftOut(name, moved[key[0]]))
        elif same_run and not (row.rankable and its.rankable):
            why = row.not_rankable_reason or its.not_rankable_reason
            left_out.append(LeftOut(name, f"{key[0]}: {why}"))
        else:
            matches.append(RowPair((row,), (its,), same_run))
    if not matches and not left_out:
        left_out.append(LeftOut(name, "no stage was observed at the same placement in both"))
    return matches, left_out
