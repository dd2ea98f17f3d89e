"""``clonometer start-method`` with a real Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import clonometer as of_server
from tests.schemas import check

import clonometer
from clonometer.errors import CommandError, UsageError

pytestmark = pytest.mark.real


QUANTITIES = ["first", "later", "pool", "task", "compute", "memory", "private"]


def answered(*words: str) -> dict[str, Any]:
    started = ["start-method", "--json", "--rounds", "1", "--data-mb", "4", *words]
    ended = of_server(*started)
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    check(answer, "start-method")
    return answer


def outcomes_of(document: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {row["method"]: {each["case"]: each["outcome"] for each in row["cases"]} for row in document["rows"]}


def figures_of(document: dict[str, Any]) -> dict[str, dict[str, float]]:
    rows = document["rows"]
    return {row["method"]: {each["quantity"]: each["value"] for each in row["figures"]} for row in rows}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is imported, which no other test imports in these words."""
    return f"import json; mark = {str(tmp_path_factory.mktemp('mark'))!r}"


@pytest.fixture(scope="module")
def document(code: str) -> dict[str, Any]:
    return answered("--", sys.executable, "-c", code)


def test_each_method_of_processes_and_threads_is_measured_and_later_workers_of_a_forkserver_need_no_server(
    document: dict[str, Any],
) -> None:
    rows = {row["method"]: row for row in document["rows"]}
    for method in ("fork", "forkserver", "spawn", "thread"):
        assert rows[method]["status"] == "measured", rows[method]
        assert [each["quantity"] for each in rows[method]["figures"]] == QUANTITIES
    assert rows["interpreter"]["status"] in ("measured", "unavailable", "failed")
    figures = figures_of(document)
    assert figures["thread"]["memory"] < figures["spawn"]["memory"]
    assert figures["thread"]["later"] < figures["spawn"]["later"]


def test_what_breaks_is_what_python_documents(document: dict[str, Any]) -> None:
    outcomes = outcomes_of(document)
    assert outcomes["thread"].pop("guard") == "not tried"
    assert {method: cases.pop("chdir") for method, cases in outcomes.items()}["thread"] == "breaks"
    assert set(outcomes["thread"].values()) == {"works"}
    assert outcomes["fork"]["lock"] == "breaks"
    assert outcomes["fork"]["threads"] == ("warns" if sys.version_info >= (3, 12) else "works")
    for method in ("spawn", "forkserver"):
        assert outcomes[method]["lock"] == "works"
        assert {outcomes[method][case] for case in ("lambda", "state", "descriptor", "guard")} == {"breaks"}
    assert {outcomes["fork"][case] for case in ("lambda", "state", "descriptor", "guard")} == {"works"}


def test_no_process_is_left(document: dict[str, Any], code: str) -> None:
    assert document["rounds"] == 1
    assert left_with(code) == []


def left_with(code: str) -> list[Path]:
    """The processes of trials that have this in their code."""
    environments = Path("/proc").glob("[0-9]*/environ")
    return [path for path in environments if _has(path, b"CLONOMETER_START_CODE=") and _has(path, code.encode())]


def _has(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False


def test_memory_of_forks_is_mostly_shared(document: dict[str, Any]) -> None:
    figures = figures_of(document)
    assert figures["fork"]["private"] < figures["fork"]["memory"]
    assert figures["fork"]["private"] < figures["spawn"]["private"]


def test_a_module_whose_forks_hang_is_given_up_and_the_other_methods_are_measured(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import os, threading\n"
        "lock, held = threading.Lock(), threading.Event()\n"
        "def hold():\n"
        "    with lock:\n"
        "        held.set()\n"
        "        threading.Event().wait()\n"
        "threading.Thread(target=hold, daemon=True).start()\n"
        "held.wait()\n"
        "os.register_at_fork(after_in_child=lock.acquire)\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import hangs"
    answer = answered("--", sys.executable, "-c", code)
    rows = {row["method"]: row for row in answer["rows"]}
    assert rows["fork"]["status"] == "failed"
    assert "no worker gave a result" in rows["fork"]["reason"]
    assert rows["spawn"]["status"] == rows["thread"]["status"] == "measured"
    assert left_with(str(tmp_path)) == []


def test_a_module_that_does_not_exist_and_a_program_that_is_no_python_are_refused() -> None:
    with pytest.raises(CommandError, match="ModuleNotFoundError"):
        clonometer.start_method([sys.executable, "-c", "import nothing_of_this_name"])
    with pytest.raises(UsageError, match="is no Python"):
        clonometer.start_method(["/bin/sh", "-c", "true"])
