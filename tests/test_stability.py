"""What docs/stability.md promises: each JSON answer has a schema, each schema a number, each version a section."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clonometer.verdicts import Direction, Gate, Status

REPOSITORY = Path(__file__).parents[1]
SCHEMAS = sorted((REPOSITORY / "docs/schemas").glob("*.json"))


def documents(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What an answer of this schema may be."""
    for variant in schema.get("oneOf", [schema]):
        yield schema["$defs"][variant["$ref"].rpartition("/")[2]] if "$ref" in variant else variant


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_every_answer_says_the_number_of_its_schema(path: Path) -> None:
    schema = json.loads(path.read_text())
    numbers = set()
    for document in documents(schema):
        assert "schema" in document["required"]
        assert document["properties"]["schema"]["const"] >= 1
        numbers.add(str(document["properties"]["schema"]["const"]))
    # Whoever keeps a schema under its name has the right one.
    assert set(schema["$id"].rpartition(":")[2].split("-")) == numbers


def test_every_command_with_json_has_a_schema_or_the_page_says_that_it_has_none() -> None:
    sections = re.split(r"^## ", (REPOSITORY / "docs/cli.md").read_text(), flags=re.MULTILINE)
    with_json = {
        text.partition("\n")[0] for text in sections if text.startswith("clonometer") and "| `--json` |" in text
    }
    titles = " ".join(json.loads(path.read_text())["title"] for path in SCHEMAS)
    page = (REPOSITORY / "docs/stability.md").read_text()
    [same] = re.findall(r"^`(\w+) --json` prints what `(\w+) --json` prints", page, re.MULTILINE)
    [without] = re.findall(r"([^.]*) have no published schema yet", page)
    excused = {f"clonometer {name}" for name in (same[0], *re.findall(r"`(\w+)`", without))}
    assert f"clonometer {same[1]} --json" in titles
    assert {name for name in with_json if f"{name} --json" not in titles} == excused


def test_the_changelog_has_a_section_for_this_version_and_the_newest_is_first() -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    headings = re.findall(r"^## (.*)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+), (unreleased|\d{4}-\d\d-\d\d)", heading) for heading in headings]
    assert all(released)
    numbers = [tuple(int(part) for part in match.groups()[:3]) for match in released if match]
    assert numbers == sorted(set(numbers), reverse=True)
    assert ".".join(map(str, numbers[0])) == version
    assert all("unreleased" not in heading for heading in headings[1:])


def named(schema: Any, name: str) -> Iterator[dict[str, Any]]:
    """The schemas of all properties of a name, however deep."""
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from (properties[name] for _ in range(name in properties))
        yield from (each for value in schema.values() for each in named(value, name))
    elif isinstance(schema, list):
        yield from (each for value in schema for each in named(value, name))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_verdicts_have_the_words_of_one_enumeration_in_all_answers(path: Path) -> None:
    schema = json.loads(path.read_text())
    for name in ("verdict", "direction", "agrees"):
        for each in named(schema, name):
            words = set(each.get("enum", ())) - {None}
            assert any(words <= set(vocabulary) for vocabulary in (Direction, Gate, Status)), words


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_what_nobody_can_tell_has_no_other_word_than_unknown(path: Path) -> None:
    listed = re.findall(r'"enum": \[([^]]*)\]', path.read_text())
    words = {word for texts in listed for word in re.findall(r'"([^"]*)"', texts)}
    assert words & {"same", "cannot tell", "not distinguishable", "not_distinguishable", "unclear"} == set()
