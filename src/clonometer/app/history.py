"""``history``: when the level of each row changed."""

from __future__ import annotations

from datetime import UTC, datetime

from clonometer.app.defaults import MOST_REGRESSION
from clonometer.app.shown import shown_as
from clonometer.dataset.history import HistoryLimits, find_history
from clonometer.dataset.history_types import History
from clonometer.dataset.load import Dataset
from clonometer.errors import UsageError

__all__ = ["history"]


@shown_as("history", "history_document")
def history(
    runs: Dataset,
    *,
    by: str = "host",
    max_regression: float = MOST_REGRESSION,
    minimum_effect: float = 0.01,
    recent: int = 30,
    since: str | datetime | None = None,
) -> History:
    """Find when the level of each row changed over many runs, and what changed with it.

    Parameters
    ----------
    runs
        What `clonometer.load_folder` has read.
    by
        What makes a series: ``host``, ``class``, or a fact.
    max_regression, minimum_effect
        The largest slowdown allowed, and the least step that is shown; shares.
    recent
        How many of the last runs count: only steps among them are regressions.
    since
        Only steps from this date on are regressions, instead of ``recent``.

    Raises
    ------
    UsageError
        If no run has that fact, or ``since`` is not a date.
    """
    return find_history(runs, by, HistoryLimits(max_regression, minimum_effect, recent, moment_of(since)))


def moment_of(since: str | datetime | None) -> datetime | None:
    """Read a date, which is of UTC where it says nothing else.

    Raises
    ------
    UsageError
        If it is not a date.
    """
    if isinstance(since, str):
        try:
            since = datetime.fromisoformat(since)
        except ValueError:
            raise UsageError(f"--since {since} is not a date", "--since 2026-11-01") from None
    return since if since is None or since.tzinfo else since.replace(tzinfo=UTC)
