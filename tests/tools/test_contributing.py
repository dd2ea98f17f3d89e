"""CONTRIBUTING.md says what the checks check: the floors of the package, the lengths, who names workloads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tools import house_rules, prose

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


def contract(name: str) -> dict[str, list[str]]:
    return next(each for each in CONTRACTS if each["name"] == name)


def test_its_floors_are_those_that_the_import_linter_checks() -> None:
    layers = contract("the floors, from cli down")["layers"]
    checked = [re.findall(r"clonometer\.(\w+)", layer) for layer in layers]
    floors = re.findall(r"^ {4}(\w.*)$", TEXT.partition("## The walls")[2].partition("\n## ")[0], re.MULTILINE)
    assert [re.findall(r"\w+", floor) for floor in floors] == checked
    ignorant = contract("who counts, reads and stores knows no family of workloads")["source_modules"]
    sentence = re.search(r"^(.*) do not import `families`\.$", TEXT, re.MULTILINE)
    assert sentence is not None
    assert re.findall(r"`(\w+)`", sentence[1]) == [module.removeprefix("clonometer.") for module in ignorant]


def test_its_rules_have_the_numbers_and_names_of_the_checks() -> None:
    assert f"Functions have at most {house_rules.MOST_FUNCTION_LINES} lines" in TEXT
    assert f"at most {prose.MOST_WORDS} words per sentence" in TEXT
    refused = re.search(r"`make lint` refuses ((?:`\w+`(?:, | and )?)+)", TEXT)
    assert refused is not None
    assert set(re.findall(r"`(\w+)`", refused[1])) <= house_rules.EMPTY_NAMES
    asking = re.search(r"^.* ask for their own cells by name", TEXT, re.MULTILINE)
    assert asking is not None
    assert {f"{folder}/" for folder in re.findall(r"`([\w/]+)`", asking[0])} | {"families/"} == set(house_rules.OWNERS)
