"""What the history of a folder hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.dataset.types import FolderReading, Label
from clonometer.records import As, Count, Ge, Gt, Mark, OneOf, Only, computed_field, version
from clonometer.results.change import Change
from clonometer.results.compare.types import Difference
from clonometer.verdicts import Gate

HISTORY_SCHEMA = 2
#: Why a step is only suspected.
FEW_RUNS, BOOTS, CHANCE = "fewer than 7 runs since", "boots may differ by as much", "chance may be it"
_LEVELS = Only("levels", (As("value", "ratio", "The level after it over the level before."), "low", "high", "verdict"))
_OF_LABEL = Only("label", ("cell", "quantity", "stage", "temperature", "placement", "unit"))


@dataclass(frozen=True)
class HistoryStep:
    """A change of level of one series."""

    since: Annotated[str, "When the first run after it started."]
    run: Annotated[str, "The file of that run."]
    not_before: Annotated[str, "The earliest run that may be the first after it."]
    not_after: Annotated[str, "The latest run that may be the first after it."]
    change: Annotated[Change[str], Mark.MERGED, _LEVELS, Ge(0)]
    seen_after: Annotated[Count, "How many runs of the new level there were when it was evident."]
    evidence: Annotated[float, Ge(0), "How much more likely it makes the values, as a logarithm."]
    is_regression: Annotated[
        bool, "It is certain, slower by more than is allowed, recent, and has not disappeared again."
    ]
    causes: Annotated[Sequence[Difference], "What changed with it; keys as in docs/host.md."]
    place: Annotated[int, Mark.UNWRITTEN]
    unsure: Annotated[
        str | None,
        Mark.OPTIONAL,
        OneOf((FEW_RUNS, BOOTS, CHANCE), closed=False),
        "Why it is only suspected; null if it is certain.",
    ] = None
    is_suspected: Annotated[bool, Mark.OPTIONAL, "It would be a regression if it were certain."] = False


@dataclass(frozen=True)
class HistoryRow:
    """One kind of row of one host, or of one group of hosts, in order of time."""

    series: Annotated[str, "The host, or the group."]
    label: Annotated[Label, Mark.MERGED, _OF_LABEL]
    started: Annotated[Sequence[str], "When each run started."]
    values: Annotated[Sequence[float], "The median of each."]
    steps: Sequence[HistoryStep]
    detectable: Annotated[
        float | None, Ge(0), "The smallest rise that 7 more runs would show, as a share; null with too few runs."
    ]


@dataclass(frozen=True)
class HistoryEvent:
    """Steps of several rows of one series that may have come together."""

    series: str
    since: str
    run: str
    slower: Annotated[Count, "Rows that became slower, or higher."]
    faster: Annotated[Count, "Rows that became faster, or lower."]
    n_rows: Annotated[Count, "Rows of the series."]
    ratio: Annotated[float, Ge(0), "The median of its rows."]
    least: Annotated[float, Ge(0)]
    most: Annotated[float, Ge(0)]
    n_regressions: Count
    causes: Sequence[Difference]
    unsure: Annotated[
        str | None, Mark.OPTIONAL, OneOf((FEW_RUNS, BOOTS, CHANCE), closed=False), "As of its most evident step."
    ] = None


@dataclass(frozen=True)
class HistoryCounts:
    """How many rows there are, and how many of them have steps, regressions, and suspected regressions."""

    rows: Count
    with_steps: Count
    regressions: Count
    suspected: Count


@dataclass(frozen=True)
class History:
    """The steps of all series of a folder."""

    schema = version(HISTORY_SCHEMA)

    reading: FolderReading
    by: Annotated[str, "What defines a series: host, or a fact."]
    verdict: Annotated[Gate, "fail: there is a regression. Exit status 0, 1 and 3."]
    max_regression: Annotated[float, Gt(0), "The largest slowdown that is allowed, as a share."]
    minimum_effect: Annotated[float, Gt(0), "The smallest step that is shown, as a share."]
    since: Annotated[str | None, "Only steps from this time on are regressions; null: recent decides."]
    recent: Annotated[Count, "How many of a series' last runs count: only steps among them are regressions."]
    limit: Annotated[float, Gt(0), "The evidence that a step needs."]
    n_short: Annotated[Count, "Rows with too few runs."]
    n_blind: Annotated[Count, "Rows in which 7 runs would not show a slowdown of max_regression."]
    events: Annotated[Sequence[HistoryEvent], "The newest first."]
    rows: Sequence[HistoryRow]

    @computed_field("Rows by what is known of them.", after="n_blind")
    def counts(self) -> HistoryCounts:
        """The number of rows, and of those with steps, with regressions, and with suspected ones."""
        return HistoryCounts(
            rows=len(self.rows),
            with_steps=sum(bool(row.steps) for row in self.rows),
            regressions=sum(any(step.is_regression for step in row.steps) for row in self.rows),
            suspected=sum(any(step.is_suspected for step in row.steps) for row in self.rows),
        )
