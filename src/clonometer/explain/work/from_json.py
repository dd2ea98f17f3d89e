"""A program's explanation from the JSON that ``clonometer explain work.factor --json`` has written."""

from __future__ import annotations

from clonometer.errors import InputError
from clonometer.explain.reading import Place, read_tier
from clonometer.explain.types import Figure
from clonometer.explain.work.life import Piece
from clonometer.explain.work.measure import TIERS
from clonometer.explain.work.notes import FUTEX_PLACES
from clonometer.explain.work.parts import CPUS, LIFE, UNEXPLAINED
from clonometer.explain.work.types import (
    Delay,
    FutexUse,
    UserReason,
    WorkExplanation,
    WorkReason,
    WorkSide,
    WorkTimeline,
)
from clonometer.results.series.types import AblationRung, AblationSeries

_PARTS = (*LIFE, *CPUS, UNEXPLAINED)


def work_from_json(place: Place) -> WorkExplanation:
    """Read what `clonometer.explain.work.as_json.work_to_json` has written.

    Raises
    ------
    InputError
        If something is missing or is not what it must be.
    """
    sides = place["sides"]
    return WorkExplanation(
        workload=place["workload"].one_of(("work.factor",)),
        workers=place["workers"].whole(1),
        numbers=place["numbers"].whole(1),
        cpus=place["cpus"].whole(1),
        condition=place["cell"].text(),
        tier=read_tier(place["tier"], TIERS),
        pairs=place["pairs"].whole(1),
        thread=_side("thread", sides["thread"]),
        process=_side("process", sides["process"]),
        gap_ns=place.figure("gap", "_ns"),
        gap=_gap(place),
        untraced_gap=place.figure("untraced_gap"),
        reasons=tuple(_reason(one) for one in place["budget"].each()),
        cpu_reasons=tuple(_reason(one) for one in place["cpu_budget"].each()),
        user_reasons=tuple(_user_reason(one) for one in place["user_code"].each()),
        unexplained=place["unexplained"].number(),
        overhead=place.figure("overhead"),
        missing=place["executions_not_seen"].whole(),
        lost=place["lost"].whole(),
        grown=place["buffer_grown"].whole(),
        ablation=place.maybe("ablation", _ablation),
        notes=place["notes"].texts(),
    )


def _gap(place: Place) -> Figure:
    gap = place.figure("gap")
    if gap.value <= -1:
        raise InputError(f"gap is {gap.value:g}: threads would need no time")
    return gap


def _reason(place: Place) -> WorkReason:
    return WorkReason(
        place["part"].one_of(_PARTS),
        place.figure("thread", "_ns"),
        place.figure("process", "_ns"),
        place.figure("difference", "_ns"),
        place.maybe("share", Place.own_figure),
    )


def _user_reason(place: Place) -> UserReason:
    return UserReason(
        place["what"].one_of(("frequency", "migrations")),
        place.figure("difference", "_ns"),
        place.maybe("each_ns", Place.own_figure),
    )


def _side(kind: str, place: Place) -> WorkSide:
    return WorkSide(
        kind=kind,
        cell=place["cell"].text(),
        whole_ns=place.figure("whole", "_ns", least=0),
        untraced_ns=place.figure("untraced", "_ns", least=0),
        overhead=place.figure("overhead"),
        executions=place["executions"].whole(),
        untraced_executions=place["untraced_executions"].whole(),
        slow=place["slow_executions"].whole(),
        counts={name: figure.own_figure() for name, figure in place["counts"].items()},
        frequency_hz=place.maybe("frequency_hz", Place.own_figure),
        futexes=tuple(_futex(one) for one in place["futexes"].each()),
        delays=tuple(
            Delay(one["part"].one_of(_PARTS), one["extra_ns"].own_figure(), one["share"].number())
            for one in place["delays"].each()
        ),
        timeline=place.maybe("timeline", _timeline),
    )


def _futex(place: Place) -> FutexUse:
    return FutexUse(
        place["place"].one_of(FUTEX_PLACES),
        place["addresses"].whole(),
        place["sleeps"].number(0),
        place["wait_ns"].number(0),
    )


def _timeline(place: Place) -> WorkTimeline:
    return WorkTimeline(
        place["whole_ns"].whole(1),
        tuple(
            (one["task"].text(), tuple(_piece(segment) for segment in one["segments"].each()))
            for one in place["tasks"].each()
        ),
    )


def _piece(place: Place) -> Piece:
    start_ns, end_ns = place["start_ns"].whole(), place["end_ns"].whole()
    if end_ns < start_ns:
        raise InputError(f"{place.name} ends before it begins")
    return start_ns, end_ns, place["part"].one_of(_PARTS)


def _ablation(place: Place) -> AblationSeries:
    rungs = tuple(_rung(one) for one in place["rungs"].each())
    sides = place["sides"].texts()
    if not rungs or len(sides) != 2:
        raise InputError(f"{place.name} has {len(rungs)} rungs and {len(sides)} sides")
    return AblationSeries(
        workload=place["workload"].text(),
        quantity=place["quantity"].text(),
        axis=place["axis"].text(),
        sides=(sides[0], sides[1]),
        condition={name: _value(value) for name, value in place["condition"].items()},
        rungs=rungs,
        remainder_share=place.maybe("remainder_share", _ends),
        n_processes=place["n_processes"].whole(),
    )


def _rung(place: Place) -> AblationRung:
    return AblationRung(
        axis=place.maybe("axis", Place.text),
        value=place.maybe("value", _value),
        first_ns=place["first_ns"].number(0),
        second_ns=place["second_ns"].number(0),
        gap_ns=_ends(place["gap_ns"]),
        gap_relative=_ends(place["gap_relative"]),
        step_ns=place.maybe("step_ns", _ends),
        share=place.maybe("share", _ends),
    )


def _value(place: Place) -> int | str:
    return place.text() if isinstance(place.value, str) else place.whole(least=-(1 << 62))


def _ends(place: Place) -> tuple[float, float, float]:
    ends = [one.number() for one in place.each()]
    if len(ends) != 3:
        raise InputError(f"{place.name} has {len(ends)} numbers, not a value and the ends of its interval")
    return ends[0], ends[1], ends[2]
