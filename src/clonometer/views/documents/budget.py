"""A command's launches against limits: a row a limit, and the lines that exceed one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clonometer.tracing.launch_limits import LaunchBudget, LaunchLimit, LaunchPlace
from clonometer.units import format_duration
from clonometer.verdicts import Gate
from clonometer.views.document import Document, DocumentBlock, Heading, Note, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.text import clean
from clonometer.words import counted

_WORDS = {Gate.PASS: "kept", Gate.FAIL: "exceeded", Gate.UNKNOWN: "cannot tell"}
_STYLES = {Gate.PASS: "good", Gate.FAIL: "bad", Gate.UNKNOWN: "warn"}
_PLACE_MOST = 50


def budget_document(budget: LaunchBudget) -> Document:
    """Make a document of what a command created and what it may."""
    lead = budget_sentence(budget)
    tone = _STYLES[budget.verdict]
    groups: list[list[DocumentBlock]] = [
        [Paragraph(lead, "bad" if tone == "bad" else "bold"), *(Note(text, "warn") for text in cautions(budget))],
        [TableBlock(_limits_table(budget))],
    ]
    # fork and processes are often exceeded by the same lines.
    together: dict[tuple[LaunchPlace, ...], list[LaunchLimit]] = {}
    for limit in budget.exceeded:
        together.setdefault(tuple(limit.places), []).append(limit)
    for places, limits in together.items():
        allowed = [f"{clean(limit.name)} ({limit.counted:,}, at most {limit.most:,})" for limit in limits]
        groups.append([Heading(f"What exceeds {', '.join(allowed)}"), TableBlock(_places_table(places))])
    groups.append([Paragraph(_time(budget), "dim")])
    return Document("budget", "Launches against limits", lead, groups)


def budget_sentence(budget: LaunchBudget) -> str:
    """Say whether the limits were kept."""
    name = clean(shlex.join(budget.command))
    created = counted(budget.counts["max"], "task")
    several = len(budget.limits)
    if budget.exceeded:
        names = ", ".join(clean(limit.name) for limit in budget.exceeded)
        return f"{name} created {created}, and exceeds {len(budget.exceeded)} of {counted(several, 'limit')}: {names}."
    if budget.verdict is Gate.UNKNOWN:
        return f"{name} created at least {created}: whether it keeps its limits is not known."
    which = "its limit" if several == 1 else f"all {several:,} limits"
    return f"{name} created {created}, within {which}."


def cautions(budget: LaunchBudget) -> list[str]:
    """Say what makes the counts doubtful, and how the command ended if not well."""
    texts = budget.uncounted
    if budget.never_executed:
        names = ", ".join(map(clean, budget.never_executed))
        texts.append(f"Not executed at all: {names}. Are the names right?")
    if budget.still_running and not (budget.timed_out or budget.interrupted):
        runs = "runs" if budget.still_running == 1 else "run"
        texts.append(
            f"{counted(budget.still_running, 'task')} still {runs} and may create more: --until-all-end waits for them."
        )
    if budget.timed_out:
        texts.append("The command was ended because its time was over: it may have created more later.")
    elif budget.interrupted:
        texts.append("The command was interrupted: it may have created more later.")
    elif budget.exit_status:
        how = f"with status {budget.exit_status}" if budget.exit_status > 0 else f"by signal {-budget.exit_status}"
        texts.append(f"The command ended {how}: a run that fails early creates fewer tasks.")
    return texts


def _limits_table(budget: LaunchBudget) -> Table:
    limits = budget.limits
    columns = [
        Column("limit", [clean(limit.name) for limit in limits], most=_PLACE_MOST, cut_start=True),
        Column("at most", [f"{limit.most:,}" for limit in limits], "right"),
        Column("created", [f"{limit.counted:,}" for limit in limits], "right"),
        Column("verdict", [_WORDS[limit.verdict] for limit in limits]),
    ]
    return Table(columns, row_styles=[_STYLES[limit.verdict] for limit in limits])


def _places_table(places: Sequence[LaunchPlace]) -> Table:
    return Table(
        [
            Column("at", [clean(place.place) for place in places], least=16, most=_PLACE_MOST, cut_start=True),
            Column("in", [clean(place.function or MISSING) for place in places], most=30, drop=2),
            Column("calls", [clean(place.api or MISSING) for place in places], most=40, drop=1),
            Column("times", [f"{place.created:,}" for place in places], "right"),
        ]
    )


def _time(budget: LaunchBudget) -> str:
    took = f"It took {format_duration(budget.wall_ns)}"
    if budget.creating_ns is None:
        return f"{took}. Only counts are limited."
    return (
        f"{took}, of which creating tasks {format_duration(budget.creating_ns)}. Times vary: only counts are limited."
    )
