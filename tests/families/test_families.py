"""What the package says of families and axes, against the frozen description of the drivers (tests/data)."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

import pytest
from tests.catalogue import CATALOGUE, DESCRIPTIONS
from tests.data import make_describe
from tests.data.make_describe import COMMAND, as_text, described_here, frozen_anew

import clonometer.families as families_module
from clonometer.discovery import find_plugins
from clonometer.families import axes, families, family, known_delays, stages
from clonometer.families.common import STAGES
from clonometer.families.types import EVENT, Family, Stage
from clonometer.plan.catalogue import Catalogue, read_catalogue
from clonometer.plan.limits import estimated_launch_ns
from clonometer.runner.languages.building import usable_drivers
from clonometer.runner.languages.toolchains import find_languages
from clonometer.tracing.parts import PARTS

DRIVERS = Path(__file__).resolve().parents[2] / "drivers"


def of_python() -> Catalogue:
    """What the driver of Python says of itself: this language is surely here."""
    [python, *_], _ = usable_drivers([each for each in find_languages() if each.name == "python"], print)
    return read_catalogue([python.described().description])


def test_every_family_of_the_drivers_has_its_module_and_its_own_place():
    # Every language has the same families: one speaks for all.
    described = [*CATALOGUE.workloads.values(), *of_python().workloads.values()]
    assert sorted(known.name for known in families()) == sorted({workload.family for workload in described})
    assert all(known.title and known.explanation for known in families())
    assert max(Counter(known.order for known in families()).values()) == 1


def test_no_module_speaks_of_what_no_driver_has():
    # What the runner sets, no driver needs to know of.
    of_drivers = {name for name, known in axes().items() if not known.by_runner}
    # A language's driver may not run here; what it reads stands in its sources.
    requests = "".join(path.read_text(encoding="utf-8") for path in DRIVERS.glob("*/request.*"))
    of_languages = of_drivers - {*CATALOGUE.axes, *of_python().axes}
    assert [name for name in sorted(of_languages) if f"{name}: choice(" not in requests] == []
    assert [value for name in of_languages for value in axes()[name].values if f'"{value}"' not in requests] == []
    of_drivers -= of_languages
    worded = {workload for known in families() for workload in known.workloads}
    assert sorted(worded - set(CATALOGUE.workloads)) == []
    values = {(name, value) for name in of_drivers for value in axes()[name].values}
    assert [(name, value) for name, value in values if value not in (CATALOGUE.axes[name].values or (value,))] == []
    divided = {item for known in families() for item in known.divided.items()}
    assert divided <= {(quantity, axis) for quantity in CATALOGUE.quantities for axis in CATALOGUE.axes}
    assert {delay[1] for delay in known_delays().values()} <= set(stages())
    assert {part for stage in stages().values() for part in (stage.ends_part, stage.begins_part)} <= {*PARTS, ""}


def test_an_axis_has_one_owner():
    groups = [*find_plugins(families_module.__name__, "AXES"), *(known.axes for known in families())]
    owners = Counter(name for group in groups for name in group)
    assert [name for name, count in owners.items() if count > 1] == []


def test_what_nobody_has_heard_of_has_defaults():
    strange = family("page_faults")
    assert (strange.title, strange.explanation, strange.shape) == ("Page faults", "", EVENT)
    assert [known.name for known in sorted([*families(), strange], key=lambda known: known.order)][-2:] == [
        "page_faults",
        "floor",
    ]
    assert estimated_launch_ns({"queue_depth": 1 << 20, "eviction": "random"}) == estimated_launch_ns({})


def test_a_family_brings_its_own_stages(monkeypatch: pytest.MonkeyPatch):
    brought = (
        Stage("page_mapped", "page mapped", "until the page is mapped", after="call_returns"),
        Stage("listens", "listens", "until it listens"),
        Stage("call_returns", "another", "another"),
    )
    monkeypatch.setattr(families_module, "families", lambda: (Family("servers", stages=brought),))
    known = families_module.stages.__wrapped__()
    usual = [stage.name for stage in STAGES]
    assert list(known) == [usual[0], "page_mapped", *usual[1:-1], "listens", "reaped"]
    assert known["call_returns"] is STAGES[0]


@pytest.mark.parametrize("name", ["parent_bytes", "vmas", "numbers", "tasks", "working_set_bytes"])
def test_more_of_what_costs_time_takes_longer(name):
    least = max(CATALOGUE.axes[name].minimum or 0, 1)
    condition = {"workers": 1} if name == "numbers" else {}
    assert estimated_launch_ns({**condition, name: 1000 * least}) > estimated_launch_ns({**condition, name: least})


def test_the_frozen_description_is_what_the_built_drivers_say() -> None:
    """Most tests judge by it: what it leaves out, they do not know of."""
    descriptions = frozen_anew()
    assert "probe" in {description["driver"]["name"] for description in described_here()}
    changes = difflib.unified_diff(
        as_text(DESCRIPTIONS).splitlines(),
        as_text(descriptions).splitlines(),
        "describe.json",
        "the built drivers",
        n=1,
        lineterm="",
    )
    shown = "\n".join(changes)
    if shown:
        pytest.fail(
            f"The drivers describe themselves otherwise than tests/data has it: {COMMAND}\n{shown}", pytrace=False
        )


def test_a_driver_that_is_not_built_here_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [description for description in DESCRIPTIONS if description["driver"]["name"] != "probe"]
    assert others
    monkeypatch.setattr(make_describe, "described_here", lambda: DESCRIPTIONS[:1])
    assert frozen_anew() == DESCRIPTIONS
