"""Explanations that were written are read as they were; what is no explanation is refused with the place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from tests.fakes.fake_work import explained as explained_work
from tests.schemas import schema
from tests.tracing.test_work import with_ablation
from tests.views.test_explain import counted, versus

from clonometer.errors import InputError
from clonometer.records import to_json
from clonometer.tracing.from_json import read_explanation
from clonometer.views.documents.run_explained import explained_groups


def written(explanation: Any) -> dict[str, Any]:
    document = json.loads(json.dumps(to_json(explanation), allow_nan=False))
    assert isinstance(document, dict)
    return document


SCHEMA = schema("explain")
SAMPLES = {
    "launch": counted,
    "versus": versus,
    "work": explained_work,
    "proc": lambda: explained_work(tier="proc"),
    "ablation": with_ablation,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_written_is_read_as_it_was(name: str) -> None:
    document = written(SAMPLES[name]())
    assert written(read_explanation(json.dumps(document))) == document


def test_keys_that_a_later_version_adds_are_passed_over() -> None:
    document = written(counted())
    more = {**document, "colour": "blue", "timelines": [{**timeline, "mood": 3} for timeline in document["timelines"]]}
    assert written(read_explanation(json.dumps(more))) == document


def test_what_an_earlier_version_did_not_write_need_not_be_there() -> None:
    document = written(counted())
    older = {key: value for key, value in document.items() if key not in ("counters", "arguments")}
    read = written(read_explanation(json.dumps(older)))
    assert read == {**document, "counters": None, "arguments": []}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        ("PAR1", "it is not JSON"),
        ('{"schema": 1', "it is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "this JSON is not an explanation"),
        ('{"schema": 1, "cells": []}', "this JSON is not an explanation"),
        ('{"schema": true, "workload": 1, "tier": 1, "budget": 1}', "its schema is True"),
        ('{"schema": 2, "workload": 1, "tier": 1, "budget": 1}', "of schema 2; this version reads schema 1"),
        ('{"schema": 1, "workload": NaN, "tier": 1, "budget": 1}', "NaN is not a valid JSON number"),
    ],
)
def test_what_is_no_explanation_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        read_explanation(text)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("budget", 0, "part"), "nonsense", r"budget\[0\].part is 'nonsense', which this version does not know"),
        (("budget", 1, "mean_ns"), "3", r"budget\[1\].mean_ns is a text, not a number"),
        (("budget", 1, "mean_ns"), -3, r"budget\[1\].mean_ns is -3, less than 0"),
        (("lost",), 1.5, "lost is a number, not a whole number"),
        (("band",), [0.75, 0.25], "band is not two shares"),
        (("timelines", 0, "segments"), [], "no segment"),
        (("tier", "name"), "proc", "tier.name is 'proc'"),
        (("notes",), {}, "notes is an object, not a list"),
    ],
)
def test_the_error_names_the_place(path: tuple[Any, ...], value: Any, words: str) -> None:
    document = written(counted())
    inside: Any = document
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(InputError, match=words):
        read_explanation(json.dumps(document))


def damaged(document: Any) -> Iterator[Any]:
    """Every way to take one key or entry out, or to put another kind of value there; of lists, the first entry."""
    inside = document.items() if isinstance(document, dict) else enumerate(document[:1])
    for key, value in inside:
        for other in (None, "text", -1, 10**400, [], {}, True):
            changed = copy.copy(document)
            changed[key] = other
            yield changed
        without = copy.copy(document)
        del without[key]
        yield without
        if isinstance(value, (dict, list)):
            for less in damaged(value):
                changed = copy.copy(document)
                changed[key] = less
                yield changed


# Two launches side by side have all that one has, and work that was taken to pieces all that work has.
@pytest.mark.parametrize("name", ["versus", "proc", "ablation"])
def test_whatever_is_damaged_is_refused_or_can_be_shown(name: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    refused = 0
    whole = written(SAMPLES[name]())
    for document in damaged(whole):
        try:
            explanation = read_explanation(json.dumps(document))
        except InputError:
            refused += 1
            continue
        again = written(explanation)
        if again != whole:
            schema = SCHEMA["$defs"]["work" if "sides" in again else "launch"]
            wrong = [error.json_path for error in validator.evolve(schema=schema).iter_errors(again)]
            assert not wrong
        explained_groups([explanation], [])
    assert refused > 300
