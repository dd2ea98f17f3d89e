"""The plan ``peers`` against the built probe, and `clonometer peers` as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import jsonschema
import pytest
from tests.cli.conftest import SOURCE
from tests.integration.leftovers import Trace, gone, tasks

from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.planfile import load_plan
from clonometer.plan.shipped import plan_names
from clonometer.results.peers.configurations import CONFIGURATIONS
from clonometer.runner.drivers import find_drivers
from clonometer.runner.peers import PROGRAMS

pytestmark = pytest.mark.real


def test_the_plan_has_the_cell_and_the_quantity_of_every_configuration():
    drivers = find_drivers()
    catalogue = read_catalogue(drivers.descriptions)
    plan = load_plan("peers", catalogue)
    assert "peers" in plan_names()
    assert {configuration.cell for configuration in CONFIGURATIONS} == {cell.text for cell in plan.cells}
    for configuration in CONFIGURATIONS:
        assert configuration.column in catalogue.workloads[configuration.cell.partition("[")[0]].quantities
    assert {figure for program in PROGRAMS for figure in program.figures} <= {
        configuration.id for configuration in CONFIGURATIONS
    }


def test_it_measures_in_turn_and_leaves_nothing_running(tmp_path):
    trace = Trace(uuid4().hex, tmp_path)
    ended = subprocess.run(
        [sys.executable, "-m", "clonometer.cli.start", "peers", "--budget", "1", "--json"],
        cwd=tmp_path,
        env={**os.environ, **trace.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert list(tmp_path.iterdir()) == []
    schema = Path(__file__).parents[2] / "docs/schemas/peers.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))
    rows = {row["id"]: row for row in answer["rows"]}
    assert all(row["ours_ns"] > 0 for row in rows.values())
    installed = {figure for program in answer["programs"] if program["installed"] for figure in program["figures"]}
    for id_ in installed:
        # perf's benchmarks of fork and execve are missing in older versions, which is said.
        assert rows[id_]["ratio"] or rows[id_]["reason"], id_
    missing = {figure for program in answer["programs"] if not program["installed"] for figure in program["figures"]}
    assert {rows[id_]["status"] for id_ in missing} <= {"not installed"}
    assert gone(lambda: tasks(trace)), tasks(trace)
