"""How a plan is read, and that its schema says the same; plans that we ship: tests/integration/test_plans.py."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonometer.errors import PlanError, UsageError
from clonometer.plan.planfile import load_plan, parse_plan
from clonometer.plan.types import Limits

REPOSITORY = Path(__file__).parents[2]
SCHEMA = json.loads((REPOSITORY / "docs/schemas/plan.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
MINIMAL = 'schema = 1\n[[cells]]\nworkloads = "launch.fork"\n'


def parse(toml, catalogue):
    return parse_plan(toml, "mine.toml", catalogue, default_name="mine")


def test_a_minimal_plan_has_the_defaults(catalogue):
    plan = parse(MINIMAL, catalogue)
    assert (plan.name, plan.title, plan.budget_seconds) == ("mine", "mine", 60.0)
    assert [target.limits for target in plan.targets] == [Limits()]
    assert [cell.text for cell in plan.cells] == [
        "launch.fork[temperature=cold]",
        "launch.fork[temperature=warm]",
    ]


@pytest.mark.parametrize("text", ["0.005", "'0.5%'"])
def test_a_target_width_is_a_share(catalogue, text):
    assert parse(f"target_width = {text}\n" + MINIMAL, catalogue).target_width == pytest.approx(0.005)


def test_limits_of_an_entry_stand_over_those_of_the_plan(catalogue):
    plan = parse(
        "schema = 1\n[limits]\nsamples = 90\nblock_limit_ms = 7\n"
        '[[cells]]\nworkloads = "clock.used"\n[cells.limits]\nsamples = 30\nprocesses = 15\n'
        '[[cells]]\nworkloads = "launch.none"\n',
        catalogue,
    )
    assert plan.targets[0].limits == Limits(processes=15, samples=30, block_limit_ns=7_000_000)
    assert plan.targets[1].limits == Limits(samples=90, block_limit_ns=7_000_000)


WRONG = [
    ("schema = ", "mine.toml: it is not TOML", True),
    ("[[cells]]\nworkloads = 'launch.fork'", "schema is missing", True),
    ("schema = 2\n[[cells]]\nworkloads = 'launch.fork'", "schema is 2", True),
    ("schema = 1", "has no [[cells]]", True),
    ("schema = 1\ncells = []", "has no [[cells]]", True),
    ("schema = 1\ncells = 'launch.fork'", "has no [[cells]]", True),
    ("schema = 1\ncells = [1]", "cells 1: is not a table", True),
    ("budget = 3\n" + MINIMAL, "unknown key 'budget'; did you mean 'budget_seconds'", True),
    ("budget_seconds = 0\n" + MINIMAL, "budget_seconds takes", True),
    ("target_width = 0\n" + MINIMAL, "target_width takes", True),
    ("target_width = 2\n" + MINIMAL, "target_width takes", True),
    ("target_width = 'narrow'\n" + MINIMAL, "target_width takes", True),
    ("budget_seconds = true\n" + MINIMAL, "budget_seconds takes", True),
    ("budget_seconds = 'long'\n" + MINIMAL, "budget_seconds takes", True),
    ("title = 3\n" + MINIMAL, "title must be a text", True),
    ("limits = 3\n" + MINIMAL, "limits: is not a table", True),
    ("limits.sample = 3\n" + MINIMAL, "limits: unknown limit 'sample'; did you mean 'samples'", True),
    ("limits.samples = 0\n" + MINIMAL, "samples = 0: samples takes a whole number from 1", True),
    (f"limits.processes = {2**62}\n" + MINIMAL, "processes is 2,147,483,647 at most", True),
    (f"limits.processes = {2**63}\n" + MINIMAL, "limits.processes is a whole number beyond 64 bits", True),
    ("limits.blocks = 1.5\n" + MINIMAL, "blocks = 1.5", True),
    ("limits.warmup = true\n" + MINIMAL, "warmup = True", True),
    (MINIMAL + "limits.samples = -1", "mine.toml: cells 1: limits: samples", True),
    (
        MINIMAL + "temperatures = 'warm'",
        "cells 1: unknown key 'temperatures'; did you mean 'temperature'",
        True,
    ),
    (MINIMAL + "temperature = 'hot'", "unknown temperature 'hot'", True),
    (MINIMAL + "temperature = []", "temperature: must be a text or a list", True),
    (MINIMAL + "set = 1", "set: is not a table", True),
    (MINIMAL + "set.pages = []", "set.pages has no value", True),
    (MINIMAL + "set.pages = [['first']]", "takes one of", True),
    (MINIMAL + "set.temperature = 'warm'", "unknown axis of launch.fork 'temperature'", True),
    (MINIMAL + "set.pages = ''", "takes one of", True),
    (MINIMAL + "set.page = 'first'", "unknown axis of launch.fork 'page'; did you mean 'pages'", False),
    (MINIMAL + "set.pages = 'clear'", "unknown value of pages 'clear'; did you mean 'clean'", False),
    ("schema = 1\n[[cells]]\nset.pages = 'first'", "workloads is missing", True),
    ("schema = 1\n[[cells]]\nworkloads = []", "workloads: must be a text or a list", True),
    ("schema = 1\n[[cells]]\nworkloads = 'launch.frok'", "did you mean 'launch.fork'", False),
]


@pytest.mark.parametrize(("toml", "message", "by_form"), WRONG, ids=[message for _, message, _ in WRONG])
def test_a_wrong_plan_is_refused_with_file_and_place(catalogue, toml, message, by_form):
    with pytest.raises(PlanError) as caught:
        parse(toml, catalogue)
    assert caught.value.message.startswith("mine.toml: ")
    assert message in caught.value.message
    assert caught.value.exit_status == 2
    if "TOML" not in message:
        assert VALIDATOR.is_valid(tomllib.loads(toml)) is not by_form


COUNTS = st.integers(0, 400) | st.booleans() | st.just("x")
SIZES = st.integers(0, 1 << 31) | st.sampled_from(["64KiB", "2MiB", "1GiB"])
ONE_OR_MORE = {
    "parent_bytes": st.lists(SIZES, max_size=3) | SIZES,
    "placement": st.sampled_from(["pinned", "free", ["free"], ["pinned", "free"], [], ""]),
}
LIMITS = st.fixed_dictionaries({}, optional={"samples": COUNTS, "warmup": COUNTS, "block_limit_ms": COUNTS})
ENTRIES = st.fixed_dictionaries(
    {"workloads": st.sampled_from(["launch.fork", ["launch.fork", "launch.vfork"], "launch.?fork", [], [3]])},
    optional={
        "temperature": st.sampled_from(["cold", "warm", ["cold", "warm"], [], "hot"]),
        "set": st.fixed_dictionaries({}, optional=ONE_OR_MORE),
        "limits": LIMITS,
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {"schema": st.just(1), "cells": st.lists(ENTRIES, max_size=1)},
    optional={
        "name": st.just("mine"),
        "budget_seconds": st.sampled_from([0, 1, 2.5, -1, "x"]),
        "target_width": st.sampled_from([0, 0.02, 1, -1, True, "2%", " 2.5 % ", "0%", "0.0%", "0.02", "x", ""]),
        "limits": LIMITS,
        "other": st.just(1),
    },
)


def to_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {to_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(to_toml(item) for item in value) + "]"
    return json.dumps(value)


@given(DOCUMENTS)
def test_reader_and_schema_agree_on_the_form(catalogue, document):
    toml = "\n".join(f"{key} = {to_toml(value)}" for key, value in document.items())
    assert tomllib.loads(toml) == document
    try:
        parse(toml, catalogue)
    except PlanError:
        accepted = False
    else:
        accepted = True
    assert accepted == VALIDATOR.is_valid(document)


def test_the_schema_is_itself_valid_and_knows_the_defaults(catalogue):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    limits = {key: entry["default"] for key, entry in SCHEMA["$defs"]["limits"]["properties"].items()}
    toml = "schema = 1\n" + "".join(f"limits.{key} = {value}\n" for key, value in limits.items())
    plan = parse(toml + "[[cells]]\nworkloads = 'launch.fork'", catalogue)
    assert plan.targets[0].limits == Limits()
    assert SCHEMA["properties"]["budget_seconds"]["default"] == plan.budget_seconds
    assert SCHEMA["properties"]["target_width"]["default"] == plan.target_width


def test_the_example_of_the_documentation_is_a_plan(catalogue):
    text = (REPOSITORY / "docs/plan.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    assert VALIDATOR.is_valid(tomllib.loads(example))
    plan = parse(example, catalogue)
    assert (plan.name, plan.budget_seconds, len(plan.cells)) == ("memory", 30.0, 8 + 2)


QUICK = """
schema = 1
title = "All"
budget_seconds = 90
[limits]
samples = 50
blocks = 2
[[cells]]
workloads = ["launch.fork", "launch.vfork"]
temperature = "warm"
quick = { workloads = "launch.fork", set.parent_bytes = "4MiB", limits.samples = 7 }
[cells.set]
parent_bytes = ["2MiB", "64MiB"]
pages = "clean"
[cells.limits]
samples = 9
warmup = 3
[[cells]]
workloads = "clock.used"
[[cells]]
workloads = "launch.none"
quick = {}
[quick]
title = "Some"
limits = { blocks = 1 }
[[quick.cells]]
workloads = "launch.pthread"
temperature = "warm"
"""


COMMON = """
schema = 1
set = { parent_bytes = "4MiB", pages = "clean" }
[[cells]]
workloads = "launch.fork"
temperature = "warm"
[[cells]]
workloads = "launch.fork"
temperature = "warm"
set = { pages = "first" }
"""


def test_what_a_plan_sets_stands_under_what_its_entries_set(catalogue):
    VALIDATOR.validate(tomllib.loads(COMMON))
    assert [cell.text for cell in parse_plan(COMMON, "mine.toml", catalogue).cells] == [
        "launch.fork[pages=clean,parent_bytes=4MiB,temperature=warm]",
        "launch.fork[pages=first,parent_bytes=4MiB,temperature=warm]",
    ]
    with pytest.raises(PlanError, match=r"mine\.toml: set\.pages has no value"):
        parse_plan(COMMON.replace('"clean"', "[]"), "mine.toml", catalogue)


def test_a_plan_says_a_temperature_for_entries_that_say_none(catalogue):
    toml = 'temperature = "warm"\n' + MINIMAL + '[[cells]]\nworkloads = "launch.pthread"\ntemperature = "cold"\n'
    VALIDATOR.validate(tomllib.loads(toml))
    assert [cell.temperature for cell in parse_plan(toml, "mine.toml", catalogue).cells] == ["warm", "cold"]
    with pytest.raises(PlanError, match=r"mine\.toml: temperature: must be a text"):
        parse_plan(toml.replace('"warm"', "3"), "mine.toml", catalogue)


def test_a_quick_form_is_laid_over_its_plan(catalogue, tmp_path):
    VALIDATOR.validate(tomllib.loads(QUICK))
    (tmp_path / "mine.toml").write_text(QUICK, encoding="utf-8")
    whole, quick = load_plan(tmp_path / "mine.toml", catalogue), load_plan(tmp_path / "mine-quick.toml", catalogue)
    assert (whole.name, whole.title, len(whole.targets)) == ("mine", "All", 6)
    assert (quick.name, quick.title, quick.budget_seconds) == ("mine-quick", "Some", 90)
    assert [(cell.text) for cell in quick.cells if cell.workload != "launch.none"] == [
        "launch.fork[pages=clean,parent_bytes=4MiB,temperature=warm]",
        "launch.pthread[temperature=warm]",
    ]
    fork, *_, pthread = quick.targets
    assert fork.limits == Limits(samples=7, blocks=1, warmup=3)
    assert pthread.limits == Limits(samples=50, blocks=1)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (MINIMAL, "mine.toml: quick: is not a table"),
        (MINIMAL + "[quick]\nbudget = 3", "quick: unknown key 'budget'; did you mean 'budget_seconds'"),
        (MINIMAL + "quick = 3\n[quick]", "cells 1: quick: is not a table"),
        (MINIMAL + "quick.sets = 3\n[quick]", "quick form: cells 1: unknown key 'sets'; did you mean 'set'"),
        (MINIMAL + "[quick]\ntitle = 'none of its cells'", "quick form: has no [[cells]]"),
    ],
)
def test_a_wrong_quick_form_is_refused_with_its_place(catalogue, toml, message):
    with pytest.raises(PlanError) as caught:
        parse_plan(toml, "mine.toml", catalogue, quick=True)
    assert message in caught.value.message


def test_a_plan_is_found_by_path(catalogue, tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(MINIMAL, encoding="utf-8")
    assert load_plan(tmp_path / "mine.toml", catalogue).name == "mine"
    monkeypatch.chdir(tmp_path)
    assert load_plan("mine.toml", catalogue).name == "mine"
    assert load_plan("./mine.toml", catalogue).name == "mine"


def test_an_unknown_plan_names_the_nearest_or_the_file(catalogue, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="unknown plan 'defalt'; did you mean 'default'") as caught:
        load_plan("defalt", catalogue)
    assert "'clonometer list' names them" in (caught.value.hint or "")
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text(MINIMAL, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_plan("mine", catalogue)
    assert caught.value.hint == "a file of that name exists: write ./mine"


def test_a_file_that_cannot_be_read_is_refused(catalogue, tmp_path):
    with pytest.raises(UsageError, match=r"cannot read .*absent\.toml: No such file"):
        load_plan(tmp_path / "absent.toml", catalogue)
    with pytest.raises(UsageError, match="Is a directory"):
        load_plan(tmp_path, catalogue)
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(PlanError, match="nested too deeply"):
        load_plan(tmp_path / "deep.toml", catalogue)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PlanError, match="not UTF-8"):
        load_plan(tmp_path / "binary.toml", catalogue)
