"""``budget``: whether a command creates more tasks than it may."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clonometer.app.census import census
from clonometer.app.shown import shown_as
from clonometer.errors import UnavailableError, UsageError
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.tracing.census.tally import Census
from clonometer.tracing.launch_limits import CountedLaunches, LaunchBudget, LaunchLimits, judge_launches
from clonometer.tracing.recorded_limits import RecordedLimits, recorded_limits

__all__ = ["budget", "record_budget"]

#: What varies from run to run is seen in a few.
RECORDED_RUNS = 3


@shown_as("budget", "budget_document")
def budget(
    command: Sequence[str],
    limits: LaunchLimits,
    *,
    seconds: float | None = None,
    until_all_end: bool = False,
    how: str = "auto",
    hooks: bool = True,
    output_to_stderr: bool = False,
    progress: Progress = SILENT,
) -> LaunchBudget:
    """Run a command, count the tasks that it and its descendants create, and compare with limits.

    Parameters
    ----------
    command
        Its words.
    limits
        The most that it may create.
    seconds, until_all_end, how, hooks, output_to_stderr, progress
        As for `clonometer.app.census.census`.

    Raises
    ------
    UsageError
        If there is no limit.
    NotStartedError
        If the command does not exist, or cannot be executed.
    UnavailableError
        If no census can be taken here.
    """
    if not limits:
        raise UsageError("there is no limit", "give one as --limit fork=0, or record a file by --record")
    tally = _count(
        command,
        seconds=seconds,
        until_all_end=until_all_end,
        how=how,
        hooks=hooks,
        output_to_stderr=output_to_stderr,
        progress=progress,
    )
    return judge_launches(tally, command, limits)


def record_budget(
    command: Sequence[str],
    *,
    runs: int = RECORDED_RUNS,
    until_all_end: bool = False,
    how: str = "auto",
    progress: Progress = SILENT,
) -> RecordedLimits:
    """Run a command several times, and make limits of the counts that are alike in all of them.

    Raises
    ------
    UsageError
        If a run failed: its counts would be too small.
    UnavailableError
        If events were lost, or a run did not end by itself, likewise.
    NotStartedError
        If the command does not exist, or cannot be executed.
    """
    counts = []
    for run in range(runs):
        tally = _count(command, until_all_end=until_all_end, how=how, output_to_stderr=True, progress=progress)
        ended = tally.ended
        if ended["lost"] or ended["interrupted"]:
            why = "it was interrupted" if ended["interrupted"] else f"{ended['lost']:,} events were lost"
            raise UnavailableError(f"cannot record limits: of run {run + 1} not all was counted, since {why}")
        if ended["exit_status"]:
            status = int(ended["exit_status"])
            how = f"with status {status}" if status > 0 else f"by signal {-status}"
            raise UsageError(
                f"cannot record limits: run {run + 1} ended {how}, and what fails early creates fewer tasks",
                f"if it always ends so: bash -c {shlex.quote(f'{shlex.join(command)} || true')}",
            )
        counts.append(CountedLaunches.of(tally))
    return recorded_limits(counts)


def _count(
    command: Sequence[str],
    *,
    until_all_end: bool,
    how: str,
    output_to_stderr: bool,
    progress: Progress,
    seconds: float | None = None,
    hooks: bool = True,
) -> Census:
    answer = census(
        command,
        seconds=seconds,
        until_all_end=until_all_end,
        how=how,
        hooks=hooks,
        advice=False,
        output_to_stderr=output_to_stderr,
        progress=progress,
    )
    return answer.tally
