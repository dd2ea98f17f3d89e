from __future__ import annotations

from typing import Any

import pytest

from clonometer.errors import InputError
from clonometer.fields import Fields

WHOLE = {
    "name": "a",
    "none": None,
    "flag": True,
    "seed": -3,
    "rows": 4,
    "share": 0.5,
    "words": ["a", "b"],
    "list": [{"x": 1}, 2],
}


class Reader(Fields):
    def complaint(self, place: str, wanted: str, actual: str) -> InputError:
        return InputError(f"{place or 'all'}: {actual}, not {wanted}")


def test_fields_are_given_as_what_they_are() -> None:
    fields = Reader(WHOLE, "top")
    assert fields.text("name") == fields.one_of("name", ("a", "b")) == "a"
    assert fields.text_or_none("none") is fields.count_or_none("absent") is None
    assert fields.boolean("flag") is True
    assert (fields.whole("seed"), fields.count("rows"), fields.count_or_none("rows")) == (-3, 4, 4)
    assert fields.texts("words") == ("a", "b")
    assert fields.entries("list") == [("top.list[0]", {"x": 1}), ("top.list[1]", 2)]


@pytest.mark.parametrize(
    ("method", "key", "complaint"),
    [
        ("text", "rows", "top.rows: 4, not a text"),
        ("text", "absent", "top.absent: missing, not a text"),
        ("text_or_none", "rows", "top.rows: 4, not a text"),
        ("boolean", "rows", "top.rows: 4, not true or false"),
        ("whole", "flag", "top.flag: True, not a whole number"),
        ("whole", "share", "top.share: 0.5, not a whole number"),
        ("count", "seed", "top.seed: -3, not a whole number from 0"),
        ("texts", "list", "top.list: [{'x': 1}, 2], not a list of texts"),
        ("entries", "name", "top.name: 'a', not a list"),
    ],
)
def test_a_complaint_names_the_place_and_what_stands_there(method: str, key: str, complaint: str) -> None:
    with pytest.raises(InputError) as refused:
        getattr(Reader(WHOLE, "top"), method)(key)
    assert refused.value.message == complaint


def test_a_text_must_be_one_of_those_allowed() -> None:
    with pytest.raises(InputError, match="name: 'a', not one of b, c"):
        Reader(WHOLE, "").one_of("name", ("b", "c"))


@pytest.mark.parametrize("content", [None, 3, "text", ["list"]])
def test_what_is_no_object_has_no_fields(content: Any) -> None:
    with pytest.raises(InputError, match=r"all: .*, not an object"):
        Reader(content, "")


def test_what_is_long_is_cut() -> None:
    with pytest.raises(InputError, match=r"top.words: 'x{56}\.\.\., not a list"):
        Reader({"words": "x" * 500}, "top").entries("words")
