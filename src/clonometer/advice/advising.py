"""From a wish and this machine's terms to an answer: what each design costs, how they rank, and how surely."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from clonometer.advice.answer import Advice, Comparison, CostPart, DesignAnswer
from clonometer.advice.basis import AdviceBasis
from clonometer.advice.children import how_known, say_unknown, settle, unknown_terms
from clonometer.advice.costs import BUSY_HZ, Costs, RequestPart, costs_of, lacking, server_of, unfit
from clonometer.advice.curves import break_evens
from clonometer.advice.designs import DESIGNS, ServerDesign, design_named
from clonometer.advice.drawing import DRAWS, draws, ratio_of, span_of
from clonometer.advice.exploring import explorable
from clonometer.advice.predicting import QueueOutcome, memory_of, predict_design
from clonometer.advice.terms import TermSpan
from clonometer.advice.wish import QUANTILES, Wish
from clonometer.advice.wording import LEAST_DIFFERENCE, assumptions, sentence
from clonometer.units import format_duration

#: Requests of a simulation, in each draw.
REQUESTS = 1200


@dataclass(frozen=True)
class DrawnDesign:
    """What a design does in each draw of the terms."""

    design: ServerDesign
    outcomes: Sequence[QueueOutcome]
    costs: Sequence[Costs]

    @property
    def keeps_up(self) -> bool:
        """Whether it does so in every draw."""
        return all(outcome.latencies_ns is not None for outcome in self.outcomes)

    def figures(self, order: str) -> list[float]:
        """What it is ranked by, draw by draw."""
        if order in QUANTILES:
            return [outcome.quantile_ns(QUANTILES[order]) for outcome in self.outcomes]
        return [outcome.cpu_ns for outcome in self.outcomes]


def advise(
    wish: Wish,
    basis: AdviceBasis,
    *,
    order: str = "p50",
    seed: int = 1,
    requests: int = REQUESTS,
    known: Collection[str] = ("work_ns",),
    seen: Collection[str] = (),
) -> Advice:
    """Rank the designs for a wish (`clonometer.advice.wish.check_wish` has passed it).

    Everything is drawn with all terms at once, so that what rests on the same term moves together. Each draw has its
    own arrivals, the same for all designs. ``known`` names the fields of the wish that were stated or observed,
    ``seen`` those that were observed.
    """
    settled = settle(wish, basis, known, seed)
    wish, basis = settled.wish, settled.basis
    spans = basis.spans(wish)
    drawn = {}
    reasons = {}
    for design in DESIGNS:
        missing = lacking(design, wish, spans)
        if missing:
            reasons[design.id] = f"not measured here: {basis.terms.lacks.get(design.workload) or ', '.join(missing)}"
            continue
        drawn[design.id] = _drawn(design, wish, basis, seed=seed, requests=requests)
    parts = _PartReader(wish, basis, seen)
    answers = [_answer(design, parts, drawn.get(design.id), reasons.get(design.id)) for design in DESIGNS]
    qualified = sorted(
        (each for each in answers if each.reason is None), key=lambda each: _figure(drawn[each.id], each, order)
    )
    ranked = [replace(each, rank=number) for number, each in enumerate(qualified, 1)]
    comparisons = _comparisons(ranked, drawn, order)
    kept = [design_named(each.id) for each in ranked]
    unknown = list(unknown_terms(wish, basis, work_has_start=settled.work_has_start))
    unsaid = say_unknown(unknown, [each.id for each in ranked], work_has_start=settled.work_has_start)
    return Advice(
        wish=wish,
        order=order,
        designs=[*ranked, *(each for each in answers if each.reason is not None)],
        comparisons=comparisons,
        sentence=sentence(ranked, comparisons, wish, order),
        depends_on=[] if order == "memory" else break_evens(wish, basis, kept, order, requests // 2),
        assumptions=[*assumptions(wish, basis.slice_ns), *basis.notes],
        made_at=basis.terms.made_at,
        unknown=unknown,
        cautions=[*unsaid, *_cautions(basis), *_of_threads(ranked[:1], wish)],
        commands=[],
        model={}
        if order == "memory"
        else explorable(wish, basis, [each.design for each in drawn.values()], order, seed=seed, requests=requests),
    )


def _comparisons(ranked: Sequence[DesignAnswer], drawn: Mapping[str, DrawnDesign], order: str) -> list[Comparison]:
    """Compare each design with the first of the rank before it: neighbours may be close all the way down."""
    comparisons: list[Comparison] = []
    leader = ranked[0] if ranked else None
    for answer in ranked[1:]:
        assert leader is not None
        comparisons.append(_compare(drawn[leader.id], drawn[answer.id], order, (leader, answer)))
        leader = leader if comparisons[-1].is_close else answer
    return comparisons


def _cautions(basis: AdviceBasis) -> list[str]:
    busy = basis.terms.busy
    return [f"{busy[0].upper()}{busy[1:]} as this machine was measured: --measure does that again."] if busy else []


def _of_threads(first: Sequence[DesignAnswer], wish: Wish) -> list[str]:
    """Say what threads on several CPUs may pay that the model lacks, where they are first."""
    if wish.cpus == 1 or not any(design_named(answer.id).shares_memory for answer in first):
        return []
    return [
        "Requests that map and unmap memory make threads of one process wait for each other, which is not in this: "
        "'clonometer run contend.mmap' measures that."
    ]


def _drawn(design: ServerDesign, wish: Wish, basis: AdviceBasis, *, seed: int, requests: int) -> DrawnDesign:
    values = draws(basis.spans(wish), DRAWS, seed)
    outcomes = [
        predict_design(design, wish, each, requests=requests, seed=seed + number, slice_ns=basis.slice_ns)
        for number, each in enumerate(values)
    ]
    return DrawnDesign(design, outcomes, [costs_of(design, wish, each) for each in values])


@dataclass(frozen=True)
class _PartReader:
    """Reads the parts of what a request costs a design, with how each is known."""

    wish: Wish
    basis: AdviceBasis
    seen: Collection[str]

    def parts(self, drawn: DrawnDesign) -> list[CostPart]:
        """Each part with its interval."""
        names: dict[tuple[str, str], RequestPart] = {(part.name, part.place): part for part in drawn.costs[0].parts}
        parts = []
        for (name, place), part in names.items():
            values = [
                sum(each.ns for each in costs.parts if (each.name, each.place) == (name, place))
                for costs in drawn.costs
            ]
            cells = list(dict.fromkeys(map(self.basis.cell, part.terms)))
            parts.append(CostPart(name, span_of(values), place, cells, how_known(part.terms, self.wish, self.seen)))
        return parts


def _answer(design: ServerDesign, reader: _PartReader, drawn: DrawnDesign | None, reason: str | None) -> DesignAnswer:
    wish, basis = reader.wish, reader.basis
    answer = DesignAnswer(
        id=design.id,
        name=design.name,
        title=design.title,
        workload=design.workload,
        rank=None,
        reason=reason,
        parts=(),
        crash=design.crash,
    )
    if drawn is None:
        return answer
    spans = basis.spans(wish)
    middle = {name: span.value for name, span in spans.items()}
    server = server_of(design, wish, costs_of(design, wish, middle), basis.slice_ns)
    # Where it is saturated it does not sleep.
    busy_wish = replace(wish, rate_hz=max(wish.rate_hz, BUSY_HZ))
    busy = server_of(design, busy_wish, costs_of(design, busy_wish, middle), basis.slice_ns)
    answer = replace(
        answer,
        parts=reader.parts(drawn),
        cpu_ns=span_of([outcome.cpu_ns for outcome in drawn.outcomes]),
        cpu_share=wish.rate_hz * server.cpu_ns / 1e9 / wish.cpus,
        most_hz=wish.rate_hz / busy.utilisation(wish.rate_hz),
    )
    if not drawn.keeps_up:
        return replace(answer, reason=f"cannot keep up: its most is {answer.most_hz:,.0f} requests a second")
    quantiles = {name: _latency(span_of(drawn.figures(name))) for name in QUANTILES}
    mean_ns = statistics.fmean(outcome.mean_ns for outcome in drawn.outcomes)
    answer = replace(
        answer,
        p50_ns=quantiles["p50"],
        p99_ns=quantiles["p99"],
        memory_bytes=memory_of(design, wish, middle, mean_ns),
    )
    return replace(answer, reason=_unfit(design, wish, quantiles))


def _latency(span: TermSpan) -> TermSpan:
    """No latency is below zero, however far draws lie apart."""
    return replace(span, low=max(0.0, span.low))


def _unfit(design: ServerDesign, wish: Wish, quantiles: Mapping[str, TermSpan]) -> str | None:
    """Why a design does not satisfy a wish; None where it does."""
    if reason := unfit(design, wish):
        return reason
    limit = wish.limit
    if limit is not None and quantiles[limit.quantile].value > limit.ns:
        return f"breaks the limit {limit.text}: {format_duration(quantiles[limit.quantile].value)}"
    return None


def _figure(drawn: DrawnDesign, answer: DesignAnswer, order: str) -> float:
    if order == "memory":
        return float(answer.memory_bytes or 0)
    return span_of(drawn.figures(order)).value


def _compare(
    first: DrawnDesign, second: DrawnDesign, order: str, answers: tuple[DesignAnswer, DesignAnswer]
) -> Comparison:
    if order == "memory":
        sizes = [max(1.0, float(each.memory_bytes or 0)) for each in answers]
        ratio = TermSpan(*[sizes[1] / sizes[0]] * 3)
    else:
        ratio = ratio_of(second.figures(order), first.figures(order))
    is_close = ratio.low <= 1.0 or abs(ratio.value - 1.0) < LEAST_DIFFERENCE
    return Comparison(first.design.id, second.design.id, ratio, is_close)
