"""Records: one declaration writes JSON, reads it, refuses what is damaged with the place, and describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar

import jsonschema
import pytest
from tools.json_schema import schema_of
from tools.schemas import schema_texts

from clonometer.errors import InputError
from clonometer.records import (
    As,
    Check,
    Count,
    Ge,
    Gt,
    Key,
    Le,
    Mark,
    OneOf,
    Only,
    Pattern,
    computed_field,
    from_json,
    to_json,
)

_Runner = TypeVar("_Runner")
SCHEMAS = Path(__file__).parents[1] / "docs/schemas"


@dataclass(frozen=True)
class Ends:
    """A value with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Lap:
    """One time around."""

    number: Annotated[Count, Key("lap")]
    ns: Annotated[Ends, Mark.ENDS, Ge(0), Check(lambda ns: ns.value < 999, "is no lap"), "How long it took."]
    extra: Annotated[Mapping[str, float], Mark.REST]

    def fault(self) -> str | None:
        return "is the lap that never was" if self.number == 13 else None

    @computed_field("Which half of the race it is of.", after="number")
    def half(self) -> Literal["first", "second"]:
        return "first" if self.number < 10 else "second"


@dataclass(frozen=True)
class Weather:
    """What the sky did."""

    sky: Annotated[str, OneOf(("clear", "rain"))]
    degrees: Annotated[float | None, Gt(-273.15), Le(60)]


class Facts(TypedDict, total=False):
    crowd: Count | None
    heat: Mapping[str, Annotated[float, Le(60)] | None]


@dataclass(frozen=True)
class Race:
    """All laps."""

    id: Annotated[str, Pattern("^[a-z]+$")]
    laps: Annotated[tuple[Lap, ...], Ge(1), Check(lambda laps: laps[0].number > 0, "begin at lap 0")]
    span: tuple[int, int]
    weather: Annotated[Weather, Mark.MERGED]
    over: bool
    prize: int | str | None = None
    mood: Annotated[str | None, Mark.OMITTED] = None
    sponsors: Annotated[tuple[str, ...], Mark.OPTIONAL] = ()
    facts: Annotated[Facts, Mark.OPTIONAL] = field(default_factory=Facts)
    ground: Annotated[Literal["sand", 1], Mark.OPTIONAL] = "sand"
    seat: Annotated[str, Mark.UNWRITTEN] = "none"


RACE = Race("oval", (Lap(1, Ends(5.0, 4.0, 6.0), {"gear": 3.5}),), (0, 9), Weather("rain", None), True)
DOCUMENT = {
    "id": "oval",
    "laps": [{"lap": 1, "half": "first", "ns": 5.0, "ns_low": 4.0, "ns_high": 6.0, "gear": 3.5}],
    "span": [0, 9],
    "sky": "rain",
    "degrees": None,
    "over": True,
    "prize": None,
    "sponsors": [],
    "facts": {},
    "ground": "sand",
}  # fmt: skip


def test_what_is_written_has_the_order_of_the_fields_and_is_read_as_it_was() -> None:
    assert list(to_json(RACE).items()) == list(DOCUMENT.items())
    assert from_json(Race, json.loads(json.dumps(DOCUMENT))) == RACE


def test_a_unit_stays_last_and_what_is_not_finite_is_null() -> None:
    @dataclass(frozen=True)
    class Timed:
        call_ns: Annotated[Ends, Mark.ENDS]

    written_ = to_json(Timed(Ends(float("inf"), 1, 2.5)))
    assert written_ == {"call_ns": None, "call_low_ns": 1, "call_high_ns": 2.5}


def test_what_a_later_version_adds_and_an_earlier_did_not_write_is_passed_over() -> None:
    document = {key: value for key, value in DOCUMENT.items() if key not in ("sponsors", "prize")}
    assert from_json(Race, {**document, "colour": "red"}) == RACE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": 3}, "id is a number, not a text"),
        ({"laps": {}}, "laps is an object, not a list"),
        ({"laps": []}, "laps has 0 entries, less than 1"),
        ({"laps": [{**DOCUMENT["laps"][0], "lap": 0}]}, "laps begin at lap 0"),
        ({"laps": [{**DOCUMENT["laps"][0], "lap": 13}]}, r"laps\[0\] is the lap that never was"),
        ({"laps": [{**DOCUMENT["laps"][0], "lap": True}]}, r"laps\[0\].lap is true or false, not a whole number"),
        ({"laps": [{**DOCUMENT["laps"][0], "lap": -1}]}, r"laps\[0\].lap is -1, less than 0"),
        ({"laps": [{**DOCUMENT["laps"][0], "ns_low": -1}]}, r"laps\[0\].ns_low is -1, less than 0"),
        ({"laps": [{**DOCUMENT["laps"][0], "ns": 999}]}, r"laps\[0\].ns is no lap"),
        ({"laps": [{**DOCUMENT["laps"][0], "gear": "x"}]}, r"laps\[0\]\['gear'\] is a text, not a number"),
        ({"laps": [{"lap": 1}]}, r"laps\[0\].ns is missing"),
        ({"span": [1]}, "span has 1 entries, not 2"),
        ({"span": [1, 1.5]}, r"span\[1\] is a number, not a whole number"),
        ({"span": [1, 10**400]}, r"span\[1\] is not a finite number or is out of range"),
        ({"sky": "hail"}, "sky is 'hail', which this version does not know"),
        ({"degrees": -300}, "degrees is -300, not more than -273.15"),
        ({"degrees": float("nan")}, "degrees is not a finite number"),
        ({"degrees": 99}, "degrees is 99, more than 60"),
        ({"over": 1}, "over is a number, not true or false"),
        ({"prize": []}, "prize is a list, not a text"),
        ({"facts": {"crowd": -1}}, "facts.crowd is -1, less than 0"),
        ({"facts": {"heat": {"noon": 61}}}, r"facts.heat\['noon'\] is 61, more than 60"),
        ({"ground": True}, "ground is True, which this version does not know"),
        ({"facts": []}, "facts is a list, not an object"),
    ],
)  # fmt: skip
def test_an_error_names_the_place_what_is_there_and_what_should_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_json(Race, {**DOCUMENT, **change})
    validator = jsonschema.Draft202012Validator(schema_of({"race": Race}))
    if "13" not in str(change) and "999" not in str(change) and "begin" not in words and "finite" not in words:
        assert not validator.is_valid({**DOCUMENT, **change})


def test_an_object_that_others_add_to_stays_as_it_is() -> None:
    facts: Any = {"crowd": None, "heat": {"noon": 30, "dusk": None}, "wind": [1, "x"]}
    read = from_json(Race, {**DOCUMENT, "facts": facts})
    assert read.facts == facts
    assert to_json(read)["facts"] == facts
    assert jsonschema.Draft202012Validator(schema_of({"race": Race})).is_valid({**DOCUMENT, "facts": facts})


def test_no_document_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="the document is a list, not an object"):
        from_json(Race, [])


def test_the_schema_says_what_the_fields_say() -> None:
    schema = schema_of({"race": Race}, title="race")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(DOCUMENT, schema)
    race, lap = schema, schema["$defs"]["lap"]
    assert race["required"] == ["id", "laps", "span", "sky", "degrees", "over", "prize"]
    assert race["additionalProperties"] is False
    assert race["properties"]["prize"] == {"type": ["integer", "string", "null"]}
    assert lap["additionalProperties"] == {"type": "number"}
    assert lap["properties"]["ns"] == {"type": "number", "minimum": 0, "description": "How long it took."}
    assert lap["properties"]["half"] == {"enum": ["first", "second"], "description": "Which half of the race it is of."}
    assert lap["description"] == "One time around."


def test_a_field_without_a_form_in_json_is_a_defect() -> None:
    @dataclass(frozen=True)
    class Odd:
        names: set[str]

    with pytest.raises(TypeError, match="no form in JSON"):
        to_json(Odd(set()))


@pytest.mark.parametrize("name", sorted(schema_texts()))
def test_the_schemas_of_the_docs_are_current(name: str) -> None:
    assert (SCHEMAS / name).read_text(encoding="utf-8") == schema_texts()[name], "make docs writes it anew"


class Light(StrEnum):
    """Of a crossing."""

    RED = "red"
    GREEN = "green"
    BROKEN = "broken"


@dataclass(frozen=True)
class Crossing:
    """What its lights show."""

    cars: Light
    walkers: Annotated[Light | None, OneOf((Light.RED, Light.GREEN))] = None


def test_an_enumeration_is_written_as_its_words_and_read_as_itself() -> None:
    crossing = Crossing(Light.BROKEN, Light.GREEN)
    assert json.dumps(to_json(crossing)) == '{"cars": "broken", "walkers": "green"}'
    again = from_json(Crossing, {"cars": "broken", "walkers": "green"})
    assert (again, type(again.cars)) == (crossing, Light)
    for wrong in ({"cars": "blue", "walkers": None}, {"cars": "red", "walkers": "broken"}):
        with pytest.raises(InputError, match="this version does not know"):
            from_json(Crossing, wrong)
    properties = schema_of({"crossing": Crossing})["properties"]
    assert properties["cars"]["enum"] == ["red", "green", "broken"]
    assert properties["walkers"]["enum"] == ["red", "green", None]


@dataclass(frozen=True)
class Timed(Generic[_Runner]):
    """How long somebody took."""

    runner: Annotated[_Runner, Mark.UNWRITTEN]
    value: Annotated[float, "What it is."]
    place: int = 1


@dataclass(frozen=True)
class Medal:
    """What is given for it."""

    timed: Annotated[Timed[Lap], Mark.MERGED, Only("timed", (As("value", "ns", "In ns."),)), Ge(0)]


def test_some_keys_of_a_record_are_written_by_other_names() -> None:
    lap = RACE.laps[0]
    assert to_json(Medal(Timed(lap, 4.5))) == {"ns": 4.5}
    assert to_json(Timed(lap, 4.5), Only("both", ("place", As("value", "s")))) == {"place": 1, "s": 4.5}
    assert schema_of({"medal": Medal})["properties"]["ns"] == {"type": "number", "minimum": 0, "description": "In ns."}
