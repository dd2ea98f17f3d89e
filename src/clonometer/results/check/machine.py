"""Rows of two runs with the machine's own speed taken off, so that a slower moment is no slower program."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from clonometer.results.check.lower_decile import fast_logs, has_decile, lower_decile
from clonometer.results.compare.comparison import Match
from clonometer.results.compare.pairing import kind_of
from clonometer.results.rows.evidence import Evidence
from clonometer.results.rows.ratio import no_ratio_of
from clonometer.stats.bootstrap import Processes
from clonometer.stats.common_drift import LEAST_KINDS, Series, take_off_common_drift

if TYPE_CHECKING:
    from clonometer.stats.quantiles import Floats

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Evened:
    """Matches as they would be had the machine kept its speed, in doubt to the advantage of the later run.

    Attributes
    ----------
    matches
        In the order they were given.
    blind
        For each how many times as large a slow-down must be to be seen: 1, or more where the machine's speed was known
        for the whole runs only.
    shift
        How much slower the machine was in the later run, as a share.
    kinds
        How many kinds of process say so; 0 where they are too few and nothing is taken off.
    """

    matches: Sequence[Match]
    blind: Sequence[float]
    shift: float
    kinds: int


def even_out(matches: Sequence[Match]) -> Evened:
    """Take the machine's speed off matches of two runs.

    Parameters
    ----------
    matches
        Rows of times of two runs.

    Returns
    -------
    Evened
        Rows without a start or with a value of zero stay as they are.

    Notes
    -----
    A machine that was slower is an excuse, one that was faster no accusation: where others became faster, a row that
    did not is no slower than before. So the speed within the runs is taken off each row that shares it, and of that
    between the runs what makes the later run look slower. A row that does not share the drift within the runs may
    still share that between them, and gets the benefit of the doubt.
    """
    import numpy as np

    usable = [place for place, match in enumerate(matches) if _is_usable(match.base) and _is_usable(match.other)]
    pairs = [[_series(matches[place].base), _series(matches[place].other)] for place in usable]
    adjusted = take_off_common_drift(pairs)
    slower, faster = max(adjusted.shift, 0.0), min(adjusted.shift, 0.0)
    evened, blind = list(matches), [1.0] * len(matches)
    for place, (base, other), shares in zip(usable, adjusted.rows, adjusted.evened, strict=True):
        match = matches[place]
        level = faster if shares else -slower
        evened[place] = replace(match, base=_with_logs(match.base, base), other=_with_logs(match.other, other + level))
        blind[place] = float(np.exp(abs(level)))
    return Evened(tuple(evened), tuple(blind), float(np.expm1(adjusted.shift)), adjusted.kinds)


def even_logs(rounds: Sequence[Mapping[Key, Evidence]]) -> list[dict[Key, Floats]]:
    """Take the machine's speed off rounds of one plan: for each, the logarithms of the rows that all have.

    Parameters
    ----------
    rounds
        For each round its rows by any key.
    """
    shared = [key for key in rounds[0] if all(key in rows and _is_usable(rows[key]) for rows in rounds)]
    adjusted = take_off_common_drift([[_series(rows[key]) for rows in rounds] for key in shared])
    return [{key: row[place] for key, row in zip(shared, adjusted.rows, strict=True)} for place in range(len(rounds))]


def common_levels(runs: Sequence[Sequence[Evidence]]) -> tuple[list[float], int]:
    """How slow the machine was in each run, by what is compared of its rows.

    Parameters
    ----------
    runs
        For each run the same rows of times. First launches say nothing: their level is another in each run.

    Returns
    -------
    levels, kinds
        For each run the median over kinds of process of how far their rows (lower deciles; medians where processes are
        few) lie above their mean over the runs, as a logarithm; and the number of kinds. All 0 where these are too few.
    """
    import numpy as np

    rows = [row for row in zip(*runs, strict=True) if not row[0].estimate.is_first_launch and no_ratio_of(*row) is None]
    kinds = np.array([kind_of(row[0].estimate) for row in rows])
    names = dict.fromkeys(kinds.tolist())
    if len(names) <= LEAST_KINDS:
        return [0.0] * len(runs), 0
    apart = np.array([_levels(row) for row in rows])
    apart -= apart.mean(axis=1, keepdims=True)
    levels = np.median([np.median(apart[kinds == name], axis=0) for name in names], axis=0)
    return levels.tolist(), len(names)


def _levels(row: Sequence[Evidence]) -> list[float]:
    import numpy as np

    if all(has_decile(measured) for measured in row):
        return [lower_decile(fast_logs(measured)) for measured in row]
    return [float(np.median(np.log(measured.processes.values))) for measured in row]


def _is_usable(measured: Evidence) -> bool:
    return measured.is_time and measured.processes.starts is not None and no_ratio_of(measured) is None


def _series(measured: Evidence) -> Series:
    import numpy as np

    starts = measured.processes.starts
    assert starts is not None
    return Series(kind_of(measured.estimate), starts, np.log(measured.processes.values))


def _with_logs(measured: Evidence, logs: Floats) -> Evidence:
    import numpy as np

    processes = measured.processes
    values = np.exp(logs)
    factors = values / processes.values
    blocks = None
    if processes.blocks is not None:
        blocks = tuple(block * factor for block, factor in zip(processes.blocks, factors, strict=True))
    return replace(measured, processes=Processes(values, processes.starts, blocks))
