"""Which design a server should have: the ranking, what rules designs out, and what would change the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from clonometer.advice.answer import Advice, CostPart, DesignAnswer
from clonometer.advice.children import KINDS, MEASURED
from clonometer.advice.costs import CHILD_PARTS, HAND_OVER
from clonometer.grouping import group_by
from clonometer.units import approximate_bytes, format_duration, format_duration_interval, format_share
from clonometer.views.advice_picture import advice_panels
from clonometer.views.document import (
    BulletList,
    Commands,
    Document,
    DocumentBlock,
    Explorer,
    FigureBlock,
    Heading,
    Hint,
    Note,
    Paragraph,
    Slider,
    TableBlock,
)
from clonometer.views.table import MISSING, Column, Table

#: Groups of parts, by which the table of costs has columns; the rest is the connection's.
_GROUPS = {
    "launch": ("launch call", "start of the task", "end of the task", "first steps of the task", "runtime's launch"),
    "children": CHILD_PARTS,
    "hand-over": ("hand-over", HAND_OVER),
    "memory": ("copying page tables", "freeing page tables", "copying pages", "new pages", "writing to pages"),
    "data": ("reading data", "writing data"),
}


def advice_document(advice: Advice, *, wide: bool = False) -> Document:
    """Make a document of an answer; ``wide``: with the costs of a request and with all assumptions."""
    ranked = [design for design in advice.designs if design.rank is not None]
    others = [design for design in advice.designs if design.rank is None]
    groups: list[Sequence[DocumentBlock]] = [
        [Paragraph(advice.sentence, "bold"), *(Note(text, "warn") for text in advice.cautions)]
    ]
    groups.append([BulletList(advice.observed)] if advice.observed else [])
    groups.append([TableBlock(_ranking(advice, ranked))] if ranked else [])
    groups.append([BulletList(_unfit(others), "dim")] if others else [])
    groups.append(list(_children(advice)))
    groups.append(_explorer(advice))
    changes = [sentence for each in advice.depends_on for sentence in each.sentences]
    if changes:
        drawn = advice_panels(advice.depends_on, advice.designs)
        groups.append([Heading("What would change it"), BulletList(changes), FigureBlock("", "", drawn)])
    if wide:
        groups.append([Heading("CPU time of a request"), TableBlock(_costs(advice.designs))])
        groups.append([Heading("What is assumed"), BulletList(advice.assumptions)])
    groups.append(list(_proof(advice)))
    groups.append([] if wide else [Hint("--wide: what each request costs, and what is assumed")])
    return Document("advise", _title(advice), advice.sentence, groups, about=_about(advice))


_TRY = (
    "Move work, memory and rate: the ranking is computed again in this page, from the same measured terms and the same "
    "simulated requests."
)


def _explorer(advice: Advice) -> list[DocumentBlock]:
    """What a page's reader may change, within what was measured and what the CPUs bear."""
    if not advice.model:
        return []
    sliders = [Slider(**slider) for slider in advice.model["sliders"]]
    return [Explorer("Try another load", _TRY, sliders, advice.model, "explore")]


def _children(advice: Advice) -> Iterator[DocumentBlock]:
    """What each process of a real server costs, term by term, where anything is known of its children."""
    made = [each for each in advice.designs if any(part.name in CHILD_PARTS for part in each.parts)]
    if not made:
        return
    lacks = [(each.name, MISSING, f"unknown: {each.how}", each.designs) for each in advice.unknown]
    for design in made:
        yield Heading(f"What a request costs as {design.title}")
        rows = [(part.name, _time(part.cpu_ns), _known(part)) for part in design.parts]
        rows += [(name, size, how) for name, size, how, designs in lacks if design.id in designs]
        names, sizes, ways = zip(*rows, strict=True)
        yield TableBlock(
            Table([Column("term", list(names)), Column("CPU time", list(sizes), "right"), Column("known", list(ways))])
        )


def _known(part: CostPart) -> str:
    """How a part is known, with what measured its price."""
    prices = [cell.partition("[")[0] for cell in part.measured_by if cell not in KINDS]
    words = [part.known] if part.known != MEASURED or not prices else []
    return " × ".join([*words, *dict.fromkeys(prices)])


def _unfit(others: Sequence[DesignAnswer]) -> list[str]:
    """Why designs do not qualify, those of one reason together."""
    by_reason = group_by((design.reason or "", design.name) for design in others)
    return [f"{', '.join(names)}: {reason}." for reason, names in by_reason.items()]


def _title(advice: Advice) -> str:
    wish = advice.wish
    return f"A server for {wish.rate_hz:,.0f} requests a second, {format_duration(wish.work_ns)} of work each"


def _about(advice: Advice) -> list[str]:
    """The wish, in phrases."""
    wish = advice.wish
    phrases = [f"{wish.cpus} {'CPU' if wish.cpus == 1 else 'CPUs'}"]
    phrases += [f"waits {format_duration(wish.block_ns)}"] if wish.block_ns else []
    sizes = (
        (wish.memory_bytes, "of memory"),
        (wish.written_bytes, "written by a request"),
        (wish.request_bytes, "sent"),
        (wish.response_bytes, "answered"),
    )
    phrases += [f"{approximate_bytes(size)} {words}" for size, words in sizes if size]
    phrases += [f"isolation: {wish.isolation}"] if wish.isolation != "none" else []
    phrases += [f"limit {wish.limit.text}"] if wish.limit else []
    return [*phrases, f"connections {wish.connections.replace('_', ' ')}", wish.transport]


def _ranking(advice: Advice, ranked: Sequence[DesignAnswer]) -> Table:
    return Table(
        [
            Column("rank", list(_ranks(advice, ranked)), "right"),
            Column("design", [design.name for design in ranked]),
            Column("p50", [_time(design.p50_ns) for design in ranked], "right"),
            Column("p99", [_time(design.p99_ns) for design in ranked], "right"),
            Column("CPU a request", [_value(design.cpu_ns) for design in ranked], "right", drop=3),
            Column("CPUs", [_share(design) for design in ranked], "right"),
            Column("memory", [_memory(design) for design in ranked], "right", drop=2),
            Column("a crash ends", [design.crash for design in ranked], drop=1, least=20),
        ],
    )


def _ranks(advice: Advice, ranked: Sequence[DesignAnswer]) -> Iterator[str]:
    """Ranks; those of neighbours that are too close to call are the same."""
    rank = 1
    for number, (_, before) in enumerate(zip_longest(ranked, [None, *advice.comparisons]), 1):
        rank = rank if before is not None and before.is_close else number
        yield f"{rank}"


def _time(span: object) -> str:
    from clonometer.advice.terms import TermSpan

    if not isinstance(span, TermSpan):
        return MISSING
    return format_duration_interval(span.value, span.low, span.high)


def _value(span: object) -> str:
    """A time without its interval, where others stand beside it."""
    from clonometer.advice.terms import TermSpan

    return format_duration(span.value) if isinstance(span, TermSpan) else MISSING


def _share(design: DesignAnswer) -> str:
    return MISSING if design.cpu_share is None else format_share(design.cpu_share)


def _memory(design: DesignAnswer) -> str:
    return MISSING if design.memory_bytes is None else approximate_bytes(design.memory_bytes)


def _costs(designs: Sequence[DesignAnswer]) -> Table:
    shown = [design for design in designs if design.parts]
    columns = [Column("design", [design.name for design in shown])]
    grouped = {name for names in _GROUPS.values() for name in names}
    connection = [sum(part.cpu_ns.value for part in design.parts if part.name not in grouped) for design in shown]
    columns.append(Column("connection", list(map(format_duration, connection)), "right"))
    for head, names in _GROUPS.items():
        sums = [sum(part.cpu_ns.value for part in design.parts if part.name in names) for design in shown]
        columns.append(Column(head, [format_duration(ns) if ns else MISSING for ns in sums], "right", optional=True))
    return Table(columns)


def _proof(advice: Advice) -> Iterator[DocumentBlock]:
    proof = advice.proof
    if proof is None:
        if advice.commands:
            yield Paragraph("Check it here: the best two are run in turn.")
            yield Commands(advice.commands)
        return
    yield Heading("Run here")
    yield Paragraph(proof.sentence, "good" if proof.agrees else "bad")
    yield TableBlock(
        Table(
            [
                Column("design", [each.id for each in proof.designs]),
                Column("p50 predicted", [_time(each.predicted_p50_ns) for each in proof.designs], "right"),
                Column("measured", [_time(each.measured_p50_ns) for each in proof.designs], "right"),
                Column("p99 predicted", [_time(each.predicted_p99_ns) for each in proof.designs], "right", drop=1),
                Column("measured", [_time(each.measured_p99_ns) for each in proof.designs], "right", drop=1),
            ]
        )
    )
