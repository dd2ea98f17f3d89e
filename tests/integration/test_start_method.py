"""``clonometer start-method`` with real Pythons."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.integration.census import CLONOMETER

import clonometer
from clonometer.errors import CommandError, UsageError

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/start-method.schema.json").read_text(encoding="utf-8"))
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    words = ["start-method", "--json", "--rounds", "1", "--data-mb", "4", "--", sys.executable, "-c", "import json"]
    ended = subprocess.run([CLONOMETER, *words], capture_output=True, text=True, timeout=280)
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(answer)
    return answer


def test_each_method_of_processes_and_threads_is_measured_and_later_workers_of_a_forkserver_need_no_server(
    document: dict[str, Any],
) -> None:
    rows = {row["method"]: row for row in document["rows"]}
    for method in ("fork", "forkserver", "spawn", "thread"):
        assert rows[method]["status"] == "measured", rows[method]
        assert [each["quantity"] for each in rows[method]["figures"]] == ["first", "later", "pool", "task", "memory"]
    assert rows["interpreter"]["status"] in ("measured", "unavailable", "failed")
    figures = {name: {each["quantity"]: each["value"] for each in rows[name]["figures"]} for name in rows}
    assert figures["thread"]["memory"] < figures["spawn"]["memory"]
    assert figures["thread"]["later"] < figures["spawn"]["later"]


def test_what_breaks_is_what_python_documents(document: dict[str, Any]) -> None:
    outcomes = {row["method"]: {each["case"]: each["outcome"] for each in row["cases"]} for row in document["rows"]}
    assert outcomes["thread"].pop("guard") == "not tried"
    assert set(outcomes["thread"].values()) == {"works"}
    assert outcomes["fork"]["lock"] == "breaks"
    assert outcomes["fork"]["threads"] == ("warns" if sys.version_info >= (3, 12) else "works")
    for method in ("spawn", "forkserver"):
        assert outcomes[method]["lock"] == "works"
        assert {outcomes[method][case] for case in ("lambda", "state", "descriptor", "guard")} == {"breaks"}
    assert {outcomes["fork"][case] for case in ("lambda", "state", "descriptor", "guard")} == {"works"}


def test_no_process_is_left(tmp_path: Path) -> None:
    mark = f"start-method-{tmp_path.name}"
    code = f"import sys; mark = {mark!r}"
    answer = clonometer.start_method([sys.executable, "-c", code], rounds=1)
    assert answer.rounds == 1
    left = [
        path for path in Path("/proc").glob("[0-9]*/environ") if _has(path, f"CLONOMETER_START_CODE={code}".encode())
    ]
    assert left == []


def _has(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False


def test_a_module_that_does_not_exist_and_a_program_that_is_no_python_are_refused() -> None:
    with pytest.raises(CommandError, match="ModuleNotFoundError"):
        clonometer.start_method([sys.executable, "-c", "import nothing_of_this_name"])
    with pytest.raises(UsageError, match="no Python"):
        clonometer.start_method(["/bin/sh", "-c", "true"])
