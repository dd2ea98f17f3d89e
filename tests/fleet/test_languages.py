"""Languages in a fleet: each host builds the drivers that its plan needs, and says what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.heard import Heard

from clonometer.app.fleet_run import _plan
from clonometer.fleet import agent
from clonometer.plan.types import Plan
from clonometer.runner.interfaces import SILENT
from clonometer.runner.languages import toolchains

pytestmark = pytest.mark.real
PLAN = """
schema = 1
name = "few"
title = "few"
[[cells]]
workloads = ["launch.pthread", "python.os_thread"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    if not toolchains.find_toolchains(next(each for each in _languages() if each.name == "python")):
        pytest.skip("there is no Python in PATH that the driver could run in")
    path = tmp_path / "few.toml"
    path.write_text(PLAN)
    return _plan(str(path), (), None, SILENT, over_ssh=False)


def _languages() -> tuple[toolchains.Language, ...]:
    return toolchains.find_languages()


def test_a_host_without_a_toolchain_says_so_and_measures_the_rest(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "find_toolchains", lambda language: ())
    drivers, lacks = agent._drivers_here(plan)
    assert [lack["what"] for lack in lacks] == ["python"]
    assert "Debian's python3" in lacks[0]["reason"]
    assert any(driver.has("launch.pthread") for driver in drivers.usable)
    assert not any(driver.has("python.os_thread") for driver in drivers.usable)


def test_a_host_with_the_toolchain_has_its_driver(plan: Plan) -> None:
    drivers, lacks = agent._drivers_here(plan)
    assert lacks == []
    assert any(driver.has("python.os_thread") for driver in drivers.usable)


def test_over_ssh_languages_are_named_as_not_measured(tmp_path: Path) -> None:
    heard = Heard()
    asked = tmp_path / "any.toml"
    asked.write_text(PLAN.replace("python.os_thread", "*.os_thread"))
    plan = _plan(str(asked), (), None, heard, over_ssh=True)
    assert {target.workload for target in plan.targets} == {"launch.pthread"}
    assert "CPython" in heard.lines[0]
