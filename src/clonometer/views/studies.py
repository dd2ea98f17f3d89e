"""The words, numbers and pictures of a reproduction, the same in every view."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from clonometer.grouping import group_by
from clonometer.studies.cells import condition_words, quantity_words
from clonometer.studies.published import Item, Study
from clonometer.studies.types import (
    ClaimEntry,
    FigureEntry,
    FigureRow,
    Pair,
    Reconciliation,
    Reproduction,
    Verdict,
)
from clonometer.units import format_number, format_ratio, format_share
from clonometer.verdicts import Status
from clonometer.views.changes import change_words, range_words
from clonometer.views.table import MISSING, Column, Table

STATUS_WORDS = {
    Status.HOLDS: "holds",
    Status.HOLDS_IN_DIRECTION: "holds in direction",
    Status.FAILS: "does not hold",
    Status.DEPENDS: "depends",
    Status.UNKNOWN: "cannot tell",
    Status.NOT_MEASURABLE: "not measured",
    Status.MEASURED: "measured",
}
STEP_WORDS = {
    "decides": "To decide it",
    "reverses": "To see it reversed",
    "searches": "To search further for what reverses it",
    "shows": "To see its numbers",
}
_OF_SEVERAL = {
    Status.HOLDS: "hold",
    Status.HOLDS_IN_DIRECTION: "hold in direction",
    Status.FAILS: "do not hold",
    Status.DEPENDS: "depend",
}
# Words by which a verdict's number is no ratio.
_NO_RATIOS = {"share", "ms"}
_LEAST_LABEL = 16
_WHOLE = 80


def ours_text(row: FigureRow) -> str:
    """Our number with its interval, in the published unit."""
    if row.value is None:
        return MISSING
    if row.published.unit == "R2" and (row.low or 0.0) <= 0:
        return "not shown to be above 0"
    if row.value == 0:
        return "below a tick" if row.published.unit == "s" else "0"
    if row.published.unit == "day":
        ends = "" if row.low is None or row.high is None else f" ({row.low:.2g} to {row.high:.2g})"
        return f"{row.value:.2g}{ends} d"
    unit, factor = row.published.shown_unit
    value, low, high = (None if number is None else number * factor for number in (row.value, row.low, row.high))
    assert value is not None
    if low is None or high is None:
        return f"{format_number(value)} {unit}".rstrip()
    texts = [format_number(number, low, high) for number in (value, low, high)]
    # Of a single process there are no ends to say.
    ends = "" if texts[1] == texts[2] else f" ({texts[1]} to {texts[2]})"
    return f"{texts[0]}{ends} {unit}".rstrip()


def ratio_text(row: FigureRow) -> str:
    """Ours over theirs."""
    # Of two ratios, or of what lies below zero, a ratio says nothing.
    if row.published.unit in ("ratio", "R2") or not row.ratio or row.ratio < 0:
        return ""
    return f"{row.ratio:.2g}×" if row.ratio < 100 else f"{row.ratio:,.0f}×"


def busy_text(reproduction: Reproduction) -> str:
    """That other programs kept the CPUs busy, which stands above the answer; empty where they did not."""
    busy = reproduction.busy
    return (
        f"Measured on a busy machine ({busy}): times are longer, and more verdicts are 'cannot tell'." if busy else ""
    )


def counts_text(reproduction: Reproduction) -> str:
    """How many claims and questions came out how."""
    claims, figures = (
        [entry.verdict.status for entry in reproduction.entries if isinstance(entry, kind)]
        for kind in (ClaimEntry, FigureEntry)
    )
    counted = {status: claims.count(status) for status in STATUS_WORDS}
    counts = ", ".join(f"{count} {_words(status, count)}" for status, count in counted.items() if count)
    measured = f"{figures.count(Status.MEASURED)} of {len(figures)} figures measured"
    return f"{len(claims)} claims and questions: {counts}. {measured}."


def _words(status: Status, count: int) -> str:
    return STATUS_WORDS[status] if count == 1 else _OF_SEVERAL.get(status, STATUS_WORDS[status])


_DECIDED = {
    Status.HOLDS: "Everything that the claim needs was observed",
    Status.HOLDS_IN_DIRECTION: "The direction agrees with the study, the size does not",
    Status.FAILS: "The measurements clearly contradict the claim",
    Status.DEPENDS: "The claim is right under some conditions and wrong under others",
    Status.UNKNOWN: "The measurements are compatible with both answers",
}
_TALLY = re.compile(r"\(yes in (\d+) of (\d+), certainly no in (\d+)\)")


def why_text(claim: ClaimEntry) -> str:
    """The reason of a verdict in one sentence, with what counts as an effect."""
    verdict = claim.verdict
    if verdict.status not in _DECIDED:
        return verdict.reason
    tally = _TALLY.search(verdict.reason)
    among = f": of {tally[2]} comparisons {tally[1]} agree and {tally[3]} certainly contradict it" if tally else ""
    needs = f" (the smallest effect that counts is {claim.least_effect})" if claim.least_effect else ""
    return f"{_DECIDED[verdict.status]}{among}{needs}."


def outcome_text(verdict: Verdict) -> str:
    """How a claim came out, with the number that decided."""
    return ": ".join(filter(None, [STATUS_WORDS[verdict.status], number_text(verdict)]))


def number_text(verdict: Verdict) -> str:
    """The number that decided, or its size beside the study's; empty where there is none."""
    size = verdict.size
    if verdict.effect is None or verdict.interval is None:
        return ""
    if size is not None and size.agrees == Status.FAILS and verdict.direction == Status.HOLDS:
        # Its interval stands in the reason: here a reader looks for the two numbers.
        ours = format_number(*(end * size.published for end in size.ends))
        return f"{ours}×, not {size.published:g}×"
    kind = _NO_RATIOS & set(verdict.effect_is.split())
    write = format_share if "share" in kind else format_number
    low, high = verdict.interval
    if math.isinf(low) or math.isinf(high):
        return ""  # The data bound it on no side.
    if not kind:
        return times_text(verdict.effect, low, high)
    return write(low) if low == high else f"{write(verdict.effect)} ({write(low)} to {write(high)})"


def times_text(value: float, low: float, high: float) -> str:
    """A ratio, with its sign, and its interval.

    Examples
    --------
    >>> times_text(14.2, 3.1, 23.0), times_text(22.4, 22.4, 22.4)
    ('14× (3 to 23)', '22.4×')
    """
    number, space, ends = format_ratio(value, low, high).partition(" ")
    first, _, last = ends.strip("()").partition(" to ")
    return f"{number}×" if first == last else f"{number}×{space}{ends}"


def right_text(flip: Reconciliation, items: Sequence[Item]) -> str:
    """The studies that are right here, each with the ids of its items."""
    if flip.right:
        study_of = {item.id: item.study.partition("-")[0] for item in items}
        ids_of_sides = [side.partition(":")[0] for side in flip.right]
        by_study = group_by((study_of.get(id_, ""), id_) for id_ in ids_of_sides)
        return ", ".join(f"{study} ({', '.join(ids)})" if study else ", ".join(ids) for study, ids in by_study.items())
    return "cannot tell" if not _stages_disagree(flip) else "each at a stage"


def _stages_disagree(flip: Reconciliation) -> bool:
    return {True, False} <= {pair.change.rises for pair in flip.bases} and flip.sentence.startswith("The stage")


def ratio_here(flip: Reconciliation) -> str:
    """How much slower or faster the first side is than the other."""
    return _pair_text(flip.bases[0]) if flip.bases else MISSING


def how_sure(flip: Reconciliation) -> str:
    """Whether somebody is right here, and how many processes that rests on."""
    if not flip.bases:
        return "not measured"
    n = flip.bases[0].change.n
    sure = "sure" if flip.right or _stages_disagree(flip) else "not sure"
    return f"{sure}, {n} process{'' if n == 1 else 'es'}"


def reversal_text(flip: Reconciliation) -> str:
    """What reverses a contradiction, and how sure that is."""
    if _stages_disagree(flip):
        stages = [f"{_pair_text(pair)} {quantity_words(pair.quantity)}" for pair in flip.bases]
        return f"the stage: {', '.join(stages)}"
    if not flip.reversed_by:
        return f"none of {len(flip.pairs)} comparisons"
    first = flip.reversed_by[0]
    words = f"{condition_words(flip.pairing.changed_in(first))}: {_pair_text(first)} {quantity_words(first.quantity)}"
    count = len(flip.reversed_by)
    reverse = "reverses" if count == 1 else "reverse"
    return f"{words} ({count} of {len(flip.pairs)} comparisons certainly {reverse} it)"


def _pair_text(pair: Pair) -> str:
    """How much slower or faster ``a`` is than ``b``, with the interval; where that holds 1, between what it lies."""
    ends = pair.change.interval
    return range_words(*ends) if ends is not None and ends[0] <= 1 <= ends[1] else change_words(pair.change)


def effect_lines(flip: Reconciliation) -> list[str]:
    """Effects for each design and stage, then what was not tried.

    Of the first design all main effects; of the others, and of interactions, what is distinguishable from none.
    """
    lines = []
    for number, design in enumerate(flip.pairing.designs):
        for quantity, effects in flip.effects.items():
            changes = []
            for effect in effects:
                always = number == 0 and len(effect.factors) == 1
                if effect.design != design.words or (effect.low <= 1 <= effect.high and not always):
                    continue
                names = " with ".join(condition_words({name: design.factors[name][1]}) for name in effect.factors)
                changes.append(f"{times_text(*effect.ends)} as long with {names}")
            if changes:
                stage = quantity_words(quantity)
                sides = f"{flip.pairing.a_words}, against {flip.pairing.b_words}"
                take = "take" if flip.pairing.a_words.endswith("s") else "takes"
                lines.append(f"{design.words}, {stage}: {sides}, {take} {'; '.join(changes)}")
            elif any(effect.design == design.words for effect in effects):
                lines.append(f"{design.words}, {quantity_words(quantity)}: no effect is distinguishable from zero")
    return [*lines, *(f"not tried: {condition}" for condition in flip.untried)]


def figure_table(rows: Sequence[FigureRow], study: Study, title: str = "") -> Table:
    """A study's figures beside ours."""
    return Table(
        [
            Column("id", [row.id for row in rows], once=True),
            Column("figure", [row.published.what for row in rows], least=_LEAST_LABEL),
            Column(str(study.year or "published"), [row.published.shown for row in rows]),
            Column("here", [ours_text(row) for row in rows]),
            Column("ratio", [ratio_text(row) for row in rows], drop=1),
            # It qualifies the number: it stays, below its row where room is short.
            Column("note", [row.note for row in rows], optional=True),
        ],
        title,
    )


def short_figure_table(figures: Sequence[FigureEntry], study: Study) -> Table:
    """A line for each figure: the first of its numbers, and how many there are besides."""
    firsts = [figure.values[0] for figure in figures]
    more = [f"{len(figure.values) - 1} more" if len(figure.values) > 1 else "" for figure in figures]
    _, _, *numbers, _ = figure_table(firsts, study).columns
    names = [(row.id, row.published.what) for row in firsts]
    return Table([_named("figure", names), *numbers, Column("", more, drop=1, optional=True)])


def short_claim_table(claims: Sequence[ClaimEntry]) -> Table:
    """A line for each claim or question."""
    return Table(
        [
            _named("claim", [(claim.item.id, claim.item.short) for claim in claims]),
            Column("here", [outcome_text(claim.verdict) for claim in claims]),
            Column("number", [claim.verdict.effect_is for claim in claims], drop=1, dim=True),
        ]
    )


def _named(head: str, names: Sequence[tuple[str, str]]) -> Column:
    """Ids and names in a column, which is wrapped where room is short once other columns have gone."""
    wide = max((len(id_) for id_, _ in names), default=0)
    return Column(f"{'id':<{wide}}  {head}", [f"{id_:<{wide}}  {name}" for id_, name in names], least=_WHOLE)


def condition_table(flip: Reconciliation) -> Table:
    """Each comparison that was tried; strongest for the first side first."""
    pairs = sorted(flip.pairs, key=lambda pair: -(pair.change.value or 0.0))
    return Table(
        [
            Column("condition", [condition_words(pair.condition) for pair in pairs]),
            Column("stage", [quantity_words(pair.quantity) for pair in pairs]),
            Column("ratio", [pair.change.text for pair in pairs]),
        ]
    )
