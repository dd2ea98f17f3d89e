"""What changed since the run before of the same plan, in one sentence, by the rule of `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from clonometer.results.compare.comparison import ERROR_RATE, match_sides
from clonometer.results.compare.differences import differences, provenance_of
from clonometer.results.compare.judge import adjusted, n_tests, pending_tests
from clonometer.results.compare.types import BOOT, ComparedRow, Difference
from clonometer.results.compare.variance import UNKNOWN_VARIANCE
from clonometer.results.findings.wording import sentence
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.types import LEAST_EFFECT
from clonometer.units import format_share
from clonometer.verdicts import Direction, Word
from clonometer.words import axis_words, cell_parts, mechanism_name, quantity_name, span_words, until

#: What differs between any two runs of one machine, or is judged as a figure itself.
_OF_ANY_RUN = ("effective_mhz", "status", BOOT)


@dataclass(frozen=True)
class SinceLastRun:
    """What changed, and what it rests on.

    ``differing``: what else differs, so that nothing was compared. ``changed``: rows that differ, those that
    are sure before those that are likely, and the largest difference first.
    """

    sentence: str
    differing: Sequence[Difference] = ()
    changed: Sequence[ComparedRow] = ()


def since(before: RunEstimates, now: RunEstimates) -> SinceLastRun:
    """Compare a run with the one before it.

    Where the machine, its settings or the version differ, these are named and nothing is compared. First launches
    count only where there are no others.

    Raises
    ------
    InputError
        If the runs have nothing in common.
    """
    when = f"since {_ago(before, now)}"
    every = differences(provenance_of(before.document), provenance_of(now.document))
    differing = [each for each in every if each.key not in _OF_ANY_RUN]
    if differing:
        first, rest = differing[0], len(differing) - 1
        more = f" and {rest} more fact{'' if rest == 1 else 's'}" if rest else ""
        base, other = ("not set" if value is None else value for value in (first.base, first.other))
        text = f"{when}, {first.key} changed from {base} to {other}{more}: not compared"
        return SinceLastRun(sentence(text), differing)
    matches, _ = match_sides([before], [now])
    # A process has one first launch, whose level is another in each run.
    later = [match for match in matches if not match.base.is_first_launch]
    matches = later or matches
    listed = pending_tests(matches, UNKNOWN_VARIANCE)
    rows = adjusted(listed, minimum_effect=LEAST_EFFECT, error_rate=ERROR_RATE)
    differs = sorted((row for row in rows if row.change.word != Word.OPEN), key=_sureness)
    differs = [row for row in differs if row.verdict != Direction.EQUAL]
    return SinceLastRun(sentence(f"{when}: {_changes(differs, n_tests(listed))}"), (), differs)


def _changes(differs: Sequence[ComparedRow], tests: int) -> str:
    """Say what changed most, how sure that is, and how many more rows did."""
    if not tests:
        return "too few processes to detect a change"
    if not differs:
        return "no row changed by more than two such runs may differ"
    first, rest = differs[0], len(differs) - 1
    more = f", and {rest} more row{'' if rest == 1 else 's'} differ" if rest else ""
    how = Direction.of((first.change.value or 1.0) - 1).word(is_time=first.is_time)
    return f"{_name(first)} {format_share(_size(first))} {how} ({first.change.word}){more}"


def _sureness(row: ComparedRow) -> tuple[bool, float]:
    return row.change.word != Word.SURE, -_size(row)


def _size(row: ComparedRow) -> float:
    """How far a row changed, as a share of the base; of what became faster, as a share of the time now."""
    return row.change.size - 1


def _name(row: ComparedRow) -> str:
    estimate = row.other
    axes = [part.partition("=")[0] for part in cell_parts(estimate.cell)[1]]
    words = [axis_words(axis, estimate.condition[axis]) for axis in axes if axis in estimate.condition]
    where = [*words, *([estimate.temperature] if estimate.temperature else [])]
    what = until(estimate.stage) if estimate.stage else quantity_name(estimate.quantity)
    return f"{', '.join([mechanism_name(estimate.workload), *where])} {what}"


def _ago(before: RunEstimates, now: RunEstimates) -> str:
    began = [datetime.fromisoformat(side.document.started) for side in (before, now)]
    return f"{span_words((began[1] - began[0]).total_seconds())} ago"
