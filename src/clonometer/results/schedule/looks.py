"""When a run that goes on is looked at, and what that may cost: time of its budget, and false words.

Who says a thing as soon as it looks sure says it when chance makes it look so. So the looks are few, and each judges at
a rate of its own: all of them together spend half of the error rate, by Bonferroni's inequality whatever they have in
common [1]_. `make coverage` simulates how often a run says
something false at any look or at its end: in none of 400 runs of each of five kinds.

References
----------
.. [1] S. J. Pocock, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64 (1977)
       191-199.
"""

from __future__ import annotations

from clonometer.stats.verdict import ERROR_RATE

#: Looks of a run on the way. Each comes half as late again as the one before: the last of them after half an hour.
MOST_LOOKS = 20
#: The error rate of each.
LOOK_RATE = ERROR_RATE / 2 / MOST_LOOKS
_FIRST_S = 0.8
_LATER_BY = 1.5
#: Looking may take one part in so many of the time.
_LEAST_APART = 15.0


class Looks:
    """Says when a run is to be looked at next.

    Examples
    --------
    >>> looks = Looks()
    >>> [looks.is_due(at_s) for at_s in (0.5, 0.9)]
    [False, True]
    >>> looks.looked(0.9, 0.1)
    >>> [looks.is_due(at_s) for at_s in (2.0, 2.5)]
    [False, True]
    """

    def __init__(self) -> None:
        self._left = MOST_LOOKS
        self._next_s = _FIRST_S

    def is_due(self, elapsed_s: float) -> bool:
        """Whether it is time, so many seconds after measuring began."""
        return self._left > 0 and elapsed_s >= self._next_s

    def looked(self, elapsed_s: float, cost_s: float) -> None:
        """Note a look that began then and took so long."""
        self._left -= 1
        self._next_s = max(elapsed_s * _LATER_BY, elapsed_s + cost_s * _LEAST_APART)
