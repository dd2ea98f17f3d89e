"""Start methods of a Python: what each costs, which are too close to call, and what breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clonometer.results.start_methods.types import (
    BREAKS,
    MEMORY,
    NOT_TRIED,
    QUANTITIES,
    WARNS,
    WORKS,
    StartMethodAnswer,
    StartMethodFigure,
    StartMethodRanking,
)
from clonometer.units import (
    approximate_bytes,
    format_duration,
    format_duration_interval,
    format_ratio,
)
from clonometer.verdicts import Direction
from clonometer.views.document import BulletList, Document, DocumentBlock, Hint, Note, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table

_HEADS = (
    "first, later: until the result of a new worker; pool: until that of a new pool; task: in the pool, doing nothing; "
    "compute: until each worker of the pool has computed for 20 ms; memory: PSS of all processes; private: their pages "
    "that nobody shares."
)
_RANKED = "Ranked; a number is the cost over that of the method before it (95% interval, pairs of the same round)."
#: The rankings of the short answer.
_SHORT = ("first", "compute", "private")
_LOCKS = {
    "GIL": "its threads compute in turn, by the GIL",
    "no GIL": "free-threaded: the GIL is off",
}
_OUTCOMES = {WORKS: "works", WARNS: "warns", BREAKS: "BREAKS", NOT_TRIED: MISSING}


def start_method_document(answer: StartMethodAnswer, *, wide: bool = False) -> Document:
    """Make a document of an answer; ``wide``: with intervals, all rankings, and what broke."""
    title = f"Start methods of {answer.implementation} {answer.version}"
    rankings = [each for each in answer.rankings if wide or each.quantity in _SHORT]
    lead = _lead(title, answer)
    groups: list[list[DocumentBlock]] = [
        [Paragraph(lead)],
        [TableBlock(_costs(answer, wide=wide))] if any(row.figures for row in answer.rows) else [],
        [
            Paragraph(_RANKED if rankings else ""),
            BulletList([_ranking_text(each, answer.names()) for each in rankings]),
        ],
        [TableBlock(_breakages(answer))],
        [*map(Note, _cautions(answer)), *([BulletList(list(_what_broke(answer)))] if wide else _hint(answer))],
    ]
    return Document("start-method", title, lead, groups)


def _lead(title: str, answer: StartMethodAnswer) -> str:
    default = next((f": {row.name} is the default" for row in answer.rows if row.is_default), "")
    lock = f" ({_LOCKS.get(answer.lock, answer.lock)})" if answer.lock else ""
    imported = f"importing '{answer.code}'" if answer.code else "importing nothing"
    return (
        f"{title}{lock}{default}. Measured {imported}, with {approximate_bytes(answer.data_bytes)} of data and "
        f"pools of {answer.workers} workers, in {answer.rounds} round{'' if answer.rounds == 1 else 's'}."
    )


def _costs(answer: StartMethodAnswer, *, wide: bool) -> Table:
    rows = [row for row in answer.rows if row.figures]
    columns = [
        Column(quantity, [_figure(row.figure(quantity), wide=wide) for row in rows], "right") for quantity in QUANTITIES
    ]
    return Table([Column("method", [row.name for row in rows], least=10), *columns], note=_HEADS)


def _figure(figure: StartMethodFigure | None, *, wide: bool) -> str:
    if figure is None:
        return MISSING
    if figure.quantity in MEMORY:
        return approximate_bytes(round(figure.value))
    if wide and figure.low is not None and figure.high is not None:
        return format_duration_interval(figure.value, figure.low, figure.high)
    return format_duration(figure.value, figure.low, figure.high)


def _ranking_text(ranking: StartMethodRanking, names: Mapping[str, str]) -> str:
    """The methods in order, each with its distance from the one before it."""
    best, *others = ranking.methods
    texts = []
    for each in others:
        ratio = format_ratio(each.ratio, each.low, each.high)
        is_close = each.verdict is Direction.UNKNOWN and each.low is not None
        doubt = ", too close to call" if is_close else ""
        texts.append(f"{names[each.method]} {ratio}{doubt}")
    return "; ".join([f"{QUANTITIES[ranking.quantity]}: {names[best.method]}", *texts])


def _breakages(answer: StartMethodAnswer) -> Table:
    rows = [row for row in answer.rows if row.cases]
    outcomes = {row.method: {each.case: each.outcome for each in row.cases} for row in rows}
    tried = {each.case: each.tried for row in rows for each in row.cases}
    columns = [
        Column(row.name, [_OUTCOMES.get(outcomes[row.method].get(case, ""), "?") for case in tried]) for row in rows
    ]
    return Table([Column("tried", list(tried.values()), least=20), *columns])


def _cautions(answer: StartMethodAnswer) -> Iterator[str]:
    if answer.status_reason is not None:
        yield f"This answer is {answer.status}: {answer.status_reason}."
    if answer.rankings and all(each.verdict is not Direction.MORE for rank in answer.rankings for each in rank.methods):
        yield "No difference is sure: a ranking needs 6 rounds or more (--rounds, --budget)."
    if answer.threads is not None and answer.threads > 1:
        yield (
            f"The program has {answer.threads} threads after the import: fork copies only the one that calls it, and a "
            "lock that another holds stays locked in the worker."
        )
    if answer.cpus < answer.workers:
        yield f"Computing is for {answer.workers} workers, which have {answer.cpus} CPU{'s' * (answer.cpus > 1)}."
    for row in answer.rows:
        if row.status in ("unavailable", "failed"):
            yield f"{row.name} {row.status}: {row.reason}"
        elif row.failures:
            yield f"{row.name}: a trial failed: {row.reason}"


def _what_broke(answer: StartMethodAnswer) -> Iterator[str]:
    return (f"{row.name}, {each.tried}: {each.words}" for row in answer.rows for each in row.cases if each.words)


def _hint(answer: StartMethodAnswer) -> list[DocumentBlock]:
    return (
        [Hint("--wide shows intervals, all rankings, and what was wrong where something breaks.")]
        if answer.rows
        else []
    )
