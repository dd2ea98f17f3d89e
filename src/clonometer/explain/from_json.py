"""Explanations from the JSON that ``clonometer explain --json`` has written (docs/explain.md)."""

from __future__ import annotations

import json
from typing import Any

from clonometer.errors import InputError
from clonometer.explain.as_json import EXPLAIN_SCHEMA
from clonometer.explain.parts import PARTS, UNEXPLAINED
from clonometer.explain.reading import Place, read_tier
from clonometer.explain.types import (
    CallText,
    CallUse,
    Counters,
    Counts,
    Explanation,
    Moment,
    ProgramSteps,
    Reason,
    Segment,
    Share,
    StepsPhase,
    Timeline,
    Versus,
)
from clonometer.explain.work.from_json import work_from_json
from clonometer.explain.work.types import WorkExplanation

_TIERS = ("tracepoints", "own", "stamps")
_TIMELINES = ("median", "p99")
_MADE_BY = "clonometer explain MECHANISM --out FILE"
_ALSO_PARTS = {**PARTS, UNEXPLAINED: None}


def read_explanation(text: str) -> Explanation | Versus | WorkExplanation:
    """Read what ``clonometer explain --json`` has written.

    Parameters
    ----------
    text
        The JSON document. Keys that this version does not know are passed over: within a schema they may be added.

    Returns
    -------
    Explanation or Versus or WorkExplanation
        Of one mechanism, of two side by side, or of threads and processes at work. Writing it again gives the same
        document.

    Raises
    ------
    InputError
        If it is no JSON, no explanation, one of a newer schema, or breaks ``docs/schemas/explain.schema.json``.
    """
    place = Place(_parsed(text))
    _check_schema(place)
    try:
        if place.get("sides") is not None:
            return work_from_json(place)
        one = _explanation(place)
        return one if place.get("versus") is None else _versus(one, place["versus"])
    except InputError as error:
        raise InputError(f"a damaged explanation: {error.message}", _again()) from error


def _parsed(text: str) -> Any:
    def refuse(word: str) -> None:
        raise InputError(f"a damaged explanation: {word} is not a number of JSON", _again())

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", _again()) from None
    except RecursionError:
        raise InputError("this is no explanation: it is nested too deeply", _again()) from None


def _check_schema(place: Place) -> None:
    written = place.value
    if not isinstance(written, dict) or not {"schema", "workload", "tier", "budget"} <= set(written):
        raise InputError("this JSON is no explanation", _again())
    schema = written["schema"]
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise InputError(f"this JSON is no explanation: its schema is {schema!r}", _again())
    if schema > EXPLAIN_SCHEMA:
        raise InputError(
            f"the explanation is of schema {schema}; this version reads schema {EXPLAIN_SCHEMA}",
            "a newer clonometer has written it: update, or explain again",
        )


def _again() -> str:
    return f"write one with {_MADE_BY}"


def _explanation(place: Place) -> Explanation:
    counts = place["launches"]
    low, high = _band(place["band"])
    return Explanation(
        cell=place["cell"].text(),
        workload=place["workload"].text(),
        tier=read_tier(place["tier"], _TIERS),
        launches=counts["traced"].whole(),
        processes=counts["processes"].whole(),
        untraced=counts["untraced"].whole(),
        band=(low, high),
        reaped_ns=place.figure("reaped", "_ns", least=0),
        budget=tuple(
            Share(one["part"].one_of(PARTS), one.figure("mean", "_ns", least=0), one["share"].number())
            for one in place["budget"].each()
        ),
        unexplained_ns=place.figure("unexplained", "_ns"),
        unexplained=place["unexplained"].number(),
        overhead=place.figure("overhead"),
        traced_median_ns=place["traced_median_ns"].number(0),
        untraced_median_ns=place["untraced_median_ns"].number(0),
        timelines=tuple(_timeline(one) for one in place["timelines"].each()),
        calls=tuple(_call(one) for one in place["system_calls"].each()),
        calls_inflated=place["system_calls_inflated"].truth(),
        flags=tuple((one["flags"].texts(), one["per_launch"].number(0)) for one in place["new_tasks"].each()),
        programs=tuple((one["file"].text(), one["per_launch"].number(0)) for one in place["programs"].each()),
        stacks={name: count.whole() for name, count in place["stacks"].items()},
        lost=place["lost"].whole(),
        grown=place["buffer_grown"].whole(),
        notes=place["notes"].texts(),
        counters=place.maybe("counters", _counters),
        listing=place.maybe("arguments", _listing) or (),
        steps=place.maybe("program_steps", _steps),
    )


def _band(place: Place) -> tuple[float, float]:
    ends = [one.number(0) for one in place.each()]
    if len(ends) != 2 or not ends[0] <= ends[1] <= 1:
        raise InputError(f"{place.name} is not two shares, the lower first")
    return ends[0], ends[1]


def _timeline(place: Place) -> Timeline:
    segments = tuple(
        Segment(one["start_ns"].whole(), one["end_ns"].whole(), one["part"].one_of(_ALSO_PARTS))
        for one in place["segments"].each()
    )
    if not segments or any(one.end_ns < one.start_ns for one in segments):
        raise InputError(f"{place.name}.segments has no segment, or one that ends before it begins")
    return Timeline(
        place["which"].one_of(_TIMELINES),
        place["reaped_ns"].whole(1),
        {name: at.whole(least=-(1 << 62)) for name, at in place["stages_ns"].items()},
        tuple(_moment(one) for one in place["events"].each()),
        segments,
    )


def _moment(place: Place) -> Moment:
    return Moment(
        place["time_ns"].whole(least=-(1 << 62)),
        place["who"].text(),
        place["cpu"].whole(least=-1),
        place["words"].text(),
        place["meaning"].text(),
    )


def _call(place: Place) -> CallUse:
    return CallUse(
        place["who"].text(),
        place["call"].text(),
        place["per_launch"].number(0),
        place["each_ns"].number(0),
        place["launch_ns"].number(0),
    )


_NO_COUNTER = ("kind", "id", "instructions_per_cycle")


def _counters(place: Place) -> Counters:
    rows = place["counts"].each()
    names = tuple(name for name, _ in rows[0].items() if name not in _NO_COUNTER) if rows else ()
    return Counters(
        set=place["set"].one_of(("hardware", "software")),
        names=names,
        reason=place.maybe("reason", Place.text),
        missing={name: why.text() for name, why in place["missing"].items()},
        launches=place["launches"].whole(),
        running=place["running"].number(0),
        rows=tuple(_counts(row, names) for row in rows),
    )


def _counts(place: Place, names: tuple[str, ...]) -> Counts:
    kind = place["kind"].one_of(("part", "stage", "mode", "all"))
    return Counts(
        kind,
        place["id"].one_of(_ALSO_PARTS) if kind == "part" else place["id"].text(),
        tuple(place[name].number() for name in names),
        place.maybe("instructions_per_cycle", Place.number),
    )


def _listing(place: Place) -> tuple[CallText, ...]:
    return tuple(CallText(one["who"].text(), one["text"].text(), one["result"].text()) for one in place.each())


def _steps(place: Place) -> ProgramSteps:
    return ProgramSteps(
        instructions=place["instructions"].whole(),
        cpuid=place["cpuid"].whole(),
        ended=place["ended"].truth(),
        phases=tuple(
            StepsPhase(one["part"].one_of(PARTS), one["instructions"].whole(), one["cpuid"].whole())
            for one in place["phases"].each()
        ),
        cpuid_ns=place["cpuid_ns"].number(0),
        cpuid_least_ns=place["cpuid_least_ns"].number(0),
        reason=place.maybe("reason", Place.text),
    )


def _versus(first: Explanation, place: Place) -> Versus:
    return Versus(
        first,
        _explanation(place["other"]),
        place["ratio"].number(0),
        place["difference_ns"].number(),
        tuple(
            Reason(
                one["part"].one_of(_ALSO_PARTS),
                *(one[key].number() for key in ("first_ns", "second_ns", "difference_ns", "share")),
            )
            for one in place["reasons"].each()
        ),
    )
