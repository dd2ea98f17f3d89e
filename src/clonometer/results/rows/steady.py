"""Whether each process of a runtime came to a steady level: compilers, caches and collectors change it for long.

References
----------
.. [1] E. Barrett, C. F. Bolz-Tereick, R. Killick, S. Mount, L. Tratt, "Virtual machine warmup blows hot and cold",
       OOPSLA 2017: changepoints in each process; a process that changes its level late has no steady state.
"""

from __future__ import annotations

import numpy as np

from clonometer.results.rows.groups import SampleGroup
from clonometer.results.types import SteadyState
from clonometer.stats.quantiles import median
from clonometer.stats.segments import segment_medians
from clonometer.stats.steps import LEAST_VALUES, evidence_for, find_steps

#: Neighbouring samples are taken together, so that a process is a series of at most so many medians.
_MOST_BINS = 36
#: A bin has so many samples at least: single launches are disturbed too often.
_LEAST_IN_BIN = 2
_STRIDE = 8
#: How often a process that has no step gets one.
_CHANCE = 0.003
#: Steps below this share are no other level.
_LEAST_STEP = 0.05


def steady_state(group: SampleGroup) -> SteadyState | None:
    """Look for steps of level in the samples of each process, in the order of measuring.

    A process is steady from its last step on, if no more than half of its samples lie before that. One that changes its
    level later was never seen to be steady [1]_. The test is that of `clonometer.stats.steps` on logarithms of medians
    of neighbouring samples; a step is 5% or more.

    Returns
    -------
    SteadyState or None
        None where processes have fewer than 24 samples, or some that are not above zero.
    """
    if group.totals is not None or group.n_samples == 0:
        return None
    counts = np.diff(group.process_starts, append=group.values.size)
    length = int(median(counts))
    bins = min(length // _LEAST_IN_BIN, _MOST_BINS)
    kept = group.process_starts[counts >= length]
    if bins < LEAST_VALUES or kept.size == 0 or group.values.min() <= 0:
        return None
    edges = np.linspace(0, length, bins + 1).astype(int)
    rows = np.log(group.values[kept[:, None] + np.arange(length)])
    firsts = (np.arange(kept.size)[:, None] * length + edges[:-1]).ravel()
    series = segment_medians(rows.ravel(), firsts).reshape(kept.size, bins).T
    steps_of = find_steps(series, evidence_for(_CHANCE / kept.size, bins), stride=_STRIDE)
    places = [[edges[step.place] for step in steps if abs(step.size) >= np.log1p(_LEAST_STEP)] for steps in steps_of]
    last = [int(steps[-1]) if steps else 0 for steps in places]
    steady = [place for place in last if place <= length / 2]
    return SteadyState(
        processes=kept.size,
        never=kept.size - len(steady),
        samples=int(median(np.array(steady))) if steady else None,
    )
