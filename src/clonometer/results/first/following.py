"""The command to try next: what takes the answer to pieces, else all of it as a page."""

from __future__ import annotations

import math

from clonometer.families import family
from clonometer.families.types import CROWD
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.first.answer import contest
from clonometer.results.first.effects import main_rows, plain_rows
from clonometer.results.first.words import is_launch_row
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.rows.warnings import FEW_PROCESSES
from clonometer.results.series.languages import answers_of
from clonometer.results.types import RUN_FILE, NextCommand
from clonometer.words import mechanism_name

#: Where nothing can be taken to pieces.
AS_PAGE = NextCommand(("report", RUN_FILE, "--out", "report.html"), "all of it as a page with charts")


def next_command(tests: PairwiseTests) -> NextCommand:
    """Choose what to try next; where every figure rests on few processes, the same for longer."""
    longer = _longer(tests.estimates)
    if longer is not None:
        return longer
    compared = contest(tests)
    if compared is not None:
        names = [typed(row) for row in compared.sides]
        words = ("explain", names[0], "--vs", names[1], *settings_of(tests, compared.other))
        return NextCommand(words, "where the time of a launch goes")
    beside_c = _furthest_from_c(tests.estimates)
    if beside_c is not None:
        language, base = beside_c
        return NextCommand(("explain", language.workload, "--vs", typed(base)), "what of its launch C does not do")
    plain = plain_rows(tests.estimates)
    launch = next((row for row in plain if is_launch_row(row)), None)
    if launch is not None:
        words = ("explain", typed(launch), *settings_of(tests, launch))
        return NextCommand(words, "where the time of a launch goes")
    workers = next((row for row in plain if family(row.family).shape == CROWD), None)
    if workers is not None and workers.condition.get("numbers") is not None:
        return NextCommand(("explain", workers.workload), "why threads and processes differ")
    return AS_PAGE


def _furthest_from_c(estimates: RunEstimates) -> tuple[RunEstimate, RunEstimate] | None:
    """Of the later launches of languages the one that takes most times as long as C's, and C's; None where none is."""
    pairs = [
        (row, each.base)
        for each in answers_of(estimates)
        if each.base is not None and each.task.creates and not each.changes
        for row in each.rows.values()
        if row.median_ns and each.base.median_ns and _can_be_explained(row)
    ]
    return max(pairs, key=lambda pair: (pair[0].median_ns or 0) / (pair[1].median_ns or 1), default=None)


def _can_be_explained(row: RunEstimate) -> bool:
    """Whether it is a later launch that creates a task of the kernel, as far as that was counted."""
    creates = row.tasks_created is None or row.tasks_created.per_launch != 0
    return creates and not row.is_first_launch and is_launch_row(row)


def _longer(estimates: RunEstimates) -> NextCommand | None:
    """The run's command with a budget that has room for enough processes; None where it had enough."""
    command = list(estimates.document.command)
    fewest = min((row.n_processes for row in main_rows(estimates)), default=0)
    most = max((row.n_processes for row in main_rows(estimates)), default=0)
    budget_s = estimates.document.plan.budget_seconds
    if not 0 < most < FEW_PROCESSES or command[1:2] != ["run"] or not budget_s:
        return None
    for option in ("--budget", "--seed"):
        if option in command:
            place = command.index(option)
            del command[place : place + 2]
    enough_s = math.ceil(budget_s * FEW_PROCESSES / fewest / 10) * 10
    return NextCommand((*command[1:], "--budget", f"{enough_s}s"), "narrower intervals")


def typed(row: RunEstimate) -> str:
    """What one types for a workload: its plain name, where it is one word."""
    name = mechanism_name(row.workload)
    if name.replace("_", "").isalnum():
        return name
    return row.workload.rpartition(".")[2] if is_launch_row(row) else row.workload


def settings_of(tests: PairwiseTests, row: RunEstimate) -> list[str]:
    """The options that set a row's condition."""
    changes = tests.estimates.changes(row)
    return [word for axis, value in changes.items() for word in ("--set", f"{axis}={value}")]
