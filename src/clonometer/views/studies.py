"""The words, numbers and pictures of a reproduction, the same in every view."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from clonometer.studies.cells import condition_words, quantity_words
from clonometer.studies.published import Study
from clonometer.studies.types import (
    FEW,
    ClaimEntry,
    FigureEntry,
    FigureRow,
    Pair,
    Reconciliation,
    Reproduction,
    Verdict,
)
from clonometer.units import format_number, format_ratio, format_share, ratio_figures
from clonometer.verdicts import Status, Word
from clonometer.views.changes import bound_words, change_words, range_words
from clonometer.views.table import MISSING, Column, Table

STATUS_WORDS = {
    Status.HOLDS: "holds",
    Status.HOLDS_IN_DIRECTION: "holds in direction",
    Status.FAILS: "does not hold",
    Status.DEPENDS: "depends",
    Status.UNKNOWN: "open",
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
    Status.UNKNOWN: "are open",
}
#: Of what is counted: it happened, or it did not.
_COUNTED = {Status.HOLDS: "held", Status.FAILS: "did not hold", Status.DEPENDS: "held in part", Status.UNKNOWN: "open"}
# Words by which a verdict's number is no ratio.
_NO_RATIOS = {"share", "work"}
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
    texts = ratio_figures(value, low, high)
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
    return f"Measured on a busy machine ({busy}): times are longer, and more claims stay open." if busy else ""


def counts_text(reproduction: Reproduction) -> str:
    """How many claims and questions came out how."""
    claims, figures = (
        [entry.verdict for entry in reproduction.entries if isinstance(entry, kind)]
        for kind in (ClaimEntry, FigureEntry)
    )
    statuses = [verdict.status for verdict in claims]
    counted = {status: statuses.count(status) for status in STATUS_WORDS}
    counts = ", ".join(f"{count} {_words(status, count)}" for status, count in counted.items() if count)
    likely = sum(verdict.word == Word.LIKELY for verdict in claims)
    of_open = f" ({likely} of these likely)" if likely else ""
    measured = f"{sum(verdict.status == Status.MEASURED for verdict in figures)} of {len(figures)} figures measured"
    return f"{len(claims)} claims and questions: {counts}{of_open}. {measured}."


def _words(status: Status, count: int) -> str:
    return STATUS_WORDS[status] if count == 1 else _OF_SEVERAL.get(status, STATUS_WORDS[status])


_DECIDED = {
    Status.HOLDS: "Everything that the claim needs was observed",
    Status.HOLDS_IN_DIRECTION: "The direction agrees with the study, the size does not",
    Status.FAILS: "The measurements clearly contradict the claim",
    Status.DEPENDS: "The claim is right under some conditions and wrong under others",
    Status.UNKNOWN: "Undecided: the measurements still allow both answers",
}
_TALLY = re.compile(r"\(yes in (\d+) of (\d+), certainly no in (\d+)\)")


def why_text(claim: ClaimEntry) -> str:
    """The reason of a verdict in one sentence, with what counts as an effect; what gives the study's number here."""
    verdict = claim.verdict
    if verdict.status not in _DECIDED or verdict.counted:
        return verdict.reason
    tally = _TALLY.search(verdict.reason)
    among = f": of {tally[2]} comparisons {tally[1]} agree and {tally[3]} certainly contradict it" if tally else ""
    needs = f" (the smallest effect that counts is {claim.least_effect})" if claim.least_effect else ""
    if verdict.effect_is.startswith(FEW):
        return "Undecided: a ratio needs at least 6 processes."
    answer = f" {verdict.size.answer}" if verdict.size is not None and verdict.size.answer else ""
    decided = _DECIDED[verdict.status]
    if verdict.status == Status.HOLDS_IN_DIRECTION and verdict.size is not None:
        decided = (
            decided if verdict.size.agrees == Status.FAILS else "The direction agrees with the study, the size is open"
        )
    return f"{decided}{among}{needs}.{answer}"


def status_text(verdict: Verdict) -> str:
    """How a claim came out, and how sure that is; of what is counted nothing is sure or likely.

    Examples
    --------
    >>> status_text(Verdict(Status.FAILS, "", word=Word.SURE))
    'does not hold, sure'
    >>> status_text(Verdict(Status.UNKNOWN, "", word=Word.LIKELY, likely=Status.HOLDS))
    'likely holds'
    """
    if verdict.counted:
        return _COUNTED[verdict.status]
    if verdict.likely is not None:
        likely = STATUS_WORDS[verdict.likely]
        return "likely not" if verdict.likely == Status.FAILS else f"likely {likely}"
    return f"{STATUS_WORDS[verdict.status]}{', sure' if verdict.word == Word.SURE else ''}"


def outcome_text(verdict: Verdict) -> str:
    """How a claim came out, with the number that decided; of an open one, how many of its parts hold all the same.

    Examples
    --------
    >>> reason = "Threads over processes (yes in 2 of 3, certainly no in 0): ..."
    >>> outcome_text(Verdict(Status.UNKNOWN, reason, 1.02, (0.9, 1.1), "", word=Word.OPEN))
    'open (2 of 3 hold): 1.02× (0.90 to 1.10)'
    """
    tally = _TALLY.search(verdict.reason) if verdict.status == Status.UNKNOWN else None
    among = f" ({tally[1]} of {tally[2]} hold{'s' if tally[1] == '1' else ''})" if tally and tally[1] != "0" else ""
    return ": ".join(filter(None, [f"{status_text(verdict)}{among}", number_text(verdict)]))


def number_text(verdict: Verdict) -> str:
    """The number that decided, or its size beside the study's; empty where there is none."""
    size = verdict.size
    if verdict.counted:
        return verdict.counted
    if verdict.effect is None or verdict.interval is None:
        return verdict.effect_is if verdict.effect_is.startswith(FEW) else ""
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
        return times_text(verdict.effect, low, high, verdict.at_least)
    unit = " ms" if "work" in kind else ""
    ends = "" if low == high else f" ({write(low)} to {write(high)})"
    return f"{write(verdict.effect)}{ends}{unit}"


def times_text(value: float, low: float, high: float, at_least: float | None = None) -> str:
    """A ratio, with its sign, and its interval; of a sure one how far it is from 1 at least.

    Examples
    --------
    >>> times_text(14.2, 3.1, 23.0), times_text(22.4, 22.4, 22.4)
    ('14× (3 to 23)', '22.4×')
    >>> times_text(170.0, 110.0, 250.0, 117.3), times_text(0.285, 0.274, 0.293, 0.311)
    ('170×, at least 110×', '0.285×, at most 0.32×')
    """
    number, space, ends = format_ratio(value, low, high).partition(" ")
    first, _, last = ends.strip("()").partition(" to ")
    if at_least is not None:
        return f"{number}×, {bound_words(at_least)}×"
    return f"{number}×" if first == last else f"{number}×{space}{ends}"


def right_text(flip: Reconciliation, verdicts: Mapping[str, Verdict]) -> str:
    """What the ledger says of each side that was judged, in its words."""
    sides = [side.partition(": ") for side in flip.pairing.favours]
    return "; ".join(f"{id_} ({words}) {outcome_text(verdicts[id_])}" for id_, _, words in sides if id_ in verdicts)


def reversal_text(flip: Reconciliation) -> str:
    """What reverses a contradiction, and how sure that is."""
    if flip.by_stage:
        stages = [f"{_pair_text(pair)} {quantity_words(pair.quantity)}" for pair in flip.bases]
        return f"The stage reverses it: {', '.join(stages)}."
    if not flip.reversed_by:
        return f"None of {len(flip.pairs)} comparisons reverses it."
    first = flip.reversed_by[0]
    base = next(pair for pair in flip.bases if pair.quantity == first.quantity)
    condition = condition_words(flip.pairing.changed_in(first))
    count = len(flip.reversed_by)
    return (
        f"{condition[0].upper()}{condition[1:]} reverses it: {flip.pairing.a_words}, {quantity_words(first.quantity)}, "
        f"{_pair_text(first)} instead of {_pair_text(base)} ({count} of {len(flip.pairs)} comparisons certainly "
        f"reverse{'s' if count == 1 else ''} it)."
    )


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
            Column(f"here / {study.year or 'then'}", [ratio_text(row) for row in rows], drop=1),
            # It qualifies the number: it stays, below its row where room is short.
            Column("note", [row.note for row in rows], optional=True),
        ],
        title,
    )


def short_figure_table(figures: Sequence[FigureEntry], study: Study) -> Table:
    """A line for each figure: the first of its numbers, and how many there are besides."""
    firsts = [figure.values[0] for figure in figures]
    more = [f"+{len(figure.values) - 1}" if len(figure.values) > 1 else "" for figure in figures]
    _, _, *numbers, _ = figure_table(firsts, study).columns
    names = [(row.id, row.published.what) for row in firsts]
    return Table([_named("figure", names), *numbers, Column("more", more, drop=1, optional=True)])


def short_claim_table(claims: Sequence[ClaimEntry]) -> Table:
    """A line for each claim or question."""
    return Table(
        [
            _named("claim", [(claim.item.id, claim.item.short) for claim in claims]),
            Column("here", [outcome_text(claim.verdict) for claim in claims]),
            Column("number", [_number_of(claim.verdict) for claim in claims], drop=1, dim=True),
        ]
    )


def _number_of(verdict: Verdict) -> str:
    """What the number that decided is of; empty where there is none."""
    return verdict.effect_is if verdict.effect is not None else ""


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
