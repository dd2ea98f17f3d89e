"""Whether a step that came with another boot is more than what boots differ by: there boots are the units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clonometer.stats.changes import change_of_runs
from clonometer.stats.quantiles import Floats

#: So many boots stand before a step that came with one, and so many from it on.
LEAST_BOOTS = 2
#: The chance that what boots differ by is called a step: small, since each boot is a look.
ERROR_RATE = 0.001


def boot_change(boots: Sequence[str | None], place: int, first: int, last: int) -> int | None:
    """The run from ``first`` to ``last``, nearest to ``place``, that is the first of another boot; None without one.

    ``boots`` has the boot of each run, None where it was not recorded.
    """
    changes = [
        at
        for at in range(max(first, 1), min(last, len(boots) - 1) + 1)
        if None not in (boots[at - 1], boots[at]) and boots[at - 1] != boots[at]
    ]
    return min(changes, key=lambda at: abs(at - place), default=None)


def beyond_boots(logs: Floats, boots: Sequence[str | None], place: int) -> bool:
    """Whether levels of boots before ``place`` and from it on differ by Student's test; each boot is one value.

    Parameters
    ----------
    logs
        Logarithms, shape (n,), in order of time.
    boots
        The boot of each.
    place
        The first run of the new level, which is the first of its boot.
    """
    before, after = (_levels(logs[part], boots[part]) for part in (slice(None, place), slice(place, None)))
    if min(len(before), len(after)) < LEAST_BOOTS:
        return False
    low, high = change_of_runs(before, after).ends(ERROR_RATE)
    return low > 0 or high < 0


def second_boot(boots: Sequence[str | None], place: int) -> int | None:
    """The run that brought the second boot from ``place`` on; None where there is none."""
    return next((at for at in range(place, len(boots)) if boots[at] not in (None, boots[place])), None)


def _levels(logs: Floats, boots: Sequence[str | None]) -> list[float]:
    places: dict[str | None, list[int]] = {}
    for at, boot in enumerate(boots):
        places.setdefault(boot, []).append(at)
    return [float(np.median(logs[its])) for its in places.values()]
