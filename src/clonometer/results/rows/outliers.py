"""Outliers, and which recorded facts they go with: migrations, involuntary switches, changes of frequency."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from clonometer.results.rows.groups import SampleGroup
from clonometer.results.rows.source import effective_frequencies_mhz
from clonometer.results.types import Outliers
from clonometer.run_document import BlockEntry

FENCE = 3.0
SWITCHES_OF_ONE_LAUNCH = 2
FREQUENCY_SHARE = 0.05
LEAST_OUTLIERS = 3
Z_CAUSE = 3.0


#: A cause, and the process and block of each block that it holds for.
BlockCauses = Mapping[str, Set[tuple[int, int]]]


def find_outliers(group: SampleGroup, causes: BlockCauses) -> Outliers:
    """Find samples far above the rest and hold them against what was recorded.

    The fence is Tukey's outer one: the upper quartile and three interquartile ranges. Without spread between the
    quartiles there is no fence and no outlier.

    Notes
    -----
    A fact counts as a cause where it holds for at least 3 outliers, and for more of them than its share of the other
    samples makes likely (3 standard errors of the binomial). It goes with them; that it made them is not proved.
    """
    low, high = group.quantile(0.25), group.quantile(0.75)
    out = group.values > high + FENCE * (high - low)
    count = int(out.sum())
    if count == 0 or high == low:
        return Outliers(0, {}, 0)
    counts: dict[str, int] = {}
    explained = np.zeros(out.size, dtype=np.bool_)
    for cause, holds in _facts(group, causes).items():
        with_cause = int((out & holds).sum())
        share = float(holds[~out].mean())
        error = math.sqrt(count * max(share * (1 - share), 1 / out.size))
        if with_cause >= LEAST_OUTLIERS and with_cause - count * share > Z_CAUSE * error:
            counts[cause] = with_cause
            explained |= out & holds
    return Outliers(count, counts, count - int(explained.sum()))


def _facts(group: SampleGroup, causes: BlockCauses) -> dict[str, NDArray[np.bool_]]:
    """Tell for each sample which facts hold; those of blocks hold for all of a block's samples."""
    migrated = {} if group.migrated is None else {"migration": group.migrated}
    return migrated | {cause: _holds(group, keys) for cause, keys in causes.items()}


def block_causes(blocks: Sequence[BlockEntry], launches: bool) -> BlockCauses:
    """What was recorded of whole blocks that may explain outliers: a cause, and the blocks that it holds for.

    Where the workload launches tasks these switch by themselves.
    """
    switched = {_key(block) for block in blocks if is_disturbed(block, launches=launches)}
    frequencies = {_key(block): mhz for block in blocks if (mhz := _mhz(block)) is not None}
    usual = statistics.median(frequencies.values()) if frequencies else 0.0
    moved = {key for key, mhz in frequencies.items() if abs(mhz / usual - 1) > FREQUENCY_SHARE}
    causes = {"involuntary_switch": switched, "frequency_change": moved}
    return {cause: keys for cause, keys in causes.items() if keys}


def _holds(group: SampleGroup, keys: Set[tuple[int, int]]) -> NDArray[np.bool_]:
    first = group.block_starts
    blocks = zip(group.process[first].tolist(), group.block[first].tolist(), strict=True)
    return np.repeat([block in keys for block in blocks], np.diff(first, append=group.values.size))


def _key(block: BlockEntry) -> tuple[int, int]:
    return (block.process, block.block)


def switches_of(block: BlockEntry) -> float | None:
    """How often a task of a block was taken off its CPU; None where that is not known."""
    return block.facts.get("involuntary_switches")


def is_disturbed(block: BlockEntry, *, launches: bool) -> bool:
    """Whether somebody else ran in a block: more switches than the launches themselves explain."""
    switches = switches_of(block)
    # On one CPU a new task may push its parent aside when it wakes and when it ends.
    expected = SWITCHES_OF_ONE_LAUNCH * block.rows if launches else 1
    return switches is not None and switches > expected


def _mhz(block: BlockEntry) -> float | None:
    return next(iter(effective_frequencies_mhz([block])), None)
