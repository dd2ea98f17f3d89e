"""The published figures as data: all 61 ids, checked, and wrong data refused."""

from __future__ import annotations

import pytest

from clonometer.errors import UsageError
from clonometer.studies.published import KINDS, UNITS, load_published

COUNTS = {"S": 23, "B": 14, "U": 15, "L": 9}
FIGURES = {
    "S": {*range(1, 11)},
    "B": {*range(1, 6), 13},
    "U": {*range(1, 7)},
    "L": {*range(1, 6)},
}
QUESTIONS = {"B10", "U10", "U11", "L9"}


def test_every_id_is_there_once_and_in_order():
    published = load_published()
    ids = [item.id for item in published.items]
    assert sorted(ids) == sorted(f"{letter}{number}" for letter, n in COUNTS.items() for number in range(1, n + 1))
    assert len(ids) == 61
    for study in published.studies:
        numbers = [int(item.id[1:]) for item in published.of([study])]
        assert numbers == list(range(1, len(numbers) + 1))


def test_figures_claims_and_questions_are_told_apart():
    published = load_published()
    assert {item.kind for item in published.items} == set(KINDS)
    for letter, numbers in FIGURES.items():
        items = [item for item in published.items if item.id[0] == letter]
        assert {int(item.id[1:]) for item in items if item.kind == "figure"} == numbers
    assert {item.id for item in published.items if item.kind == "question"} == QUESTIONS


@pytest.mark.parametrize(
    ("id_", "numbers"),
    [
        ("S1", [(60, 170)]), ("S2", [(34, 94)]), ("S5", [(94, 260)]), ("S6", [(49, 143)]),
        ("S7", [(170, 290)]), ("S8", [(60, 147)]), ("S9", [0.094]), ("S10", [0.110]),
        ("B1", [35]), ("B2", [5]), ("B4", [3]), ("L1", [12.627, 0.948]), ("L2", [0.87, 0.01]),
        ("L3", [11.50, 0.60]), ("L4", [97, 63]), ("L5", [1170, 207]),
    ],
)  # fmt: skip
def test_numbers_are_those_of_the_studies(id_, numbers):
    values = load_published().item(id_).values
    assert [
        value.value if value.value is not None else (value.low, value.high) for value in values if not value.control
    ] == numbers


def test_each_study_has_a_source():
    for study in load_published().studies.values():
        assert study.machine in study.source
        assert str(study.year) in study.source or study.year is None


def test_an_unknown_study_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="sysel-2020") as caught:
        load_published().choose(["sysel-2021"])
    assert "loop-10000" in caught.value.hint
    assert load_published().choose([]) == ("sysel-2020", "bendersky-2018", "burian-2015", "loop-10000")


def test_a_number_a_range_or_words_stand_in_a_known_unit():
    for item in load_published().items:
        assert bool(item.values) == (item.kind == "figure"), item.id
        assert item.size is None or (item.kind == "claim" and item.size > 1), item.id
        assert item.kind == "figure" or 0 < len(item.short) <= 40, item.id
        for value in item.values:
            assert value.unit in UNITS
            given = [value.value is not None, value.low is not None, value.wording is not None]
            assert given.count(True) == 1, (item.id, value.what)
            assert value.high is None or value.low < value.high
            assert (value.cell is None) == (value.quantity is None)
    assert {item.id: item.size for item in load_published().items if item.size} == {"B6": 7, "L6": 13, "U12": 3.36}
