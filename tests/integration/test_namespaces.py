"""Children in new namespaces: what is made, what is torn down, what an ordinary user may not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests import probe
from tests.integration.started import NOBODY, ROOT_ONLY, as_nobody
from tests.probe import present

pytestmark = pytest.mark.real

ENTRIES = {
    entry["id"]: entry
    for entry in probe.catalogue()["workloads"]
    if entry["id"].startswith("namespaces.") and entry["available"]
}


@pytest.mark.skipif(not ENTRIES, reason="no namespaces can be made here")
@pytest.mark.parametrize("workload", ENTRIES)
def test_teardown_is_the_end_of_a_launch(workload: str) -> None:
    (block,) = probe.ask(f"workload={workload}", "samples=3", "warmup=1", "blocks=1").blocks
    assert block.outcomes == {"ok": 3}
    before_the_end = block.columns["reaped_ns"] - block.columns["teardown_ns"]
    assert (before_the_end >= block.columns["task_runs_ns"]).all()


@pytest.mark.skipif("namespaces.none" not in ENTRIES, reason="clone3 is refused here")
def test_without_the_childs_stamps_there_is_no_teardown() -> None:
    (block,) = probe.ask("workload=namespaces.none", "stages=parent", "samples=3", "blocks=1").blocks
    assert len(present(block, "teardown_ns")) == len(present(block, "task_runs_ns")) == 0


@ROOT_ONLY
def test_an_ordinary_user_is_told_why_not(public: Path) -> None:
    program = public / "probe-static"
    shutil.copy(probe.executable(), program)

    answer = probe.ask("workload=namespaces.net", "samples=3", program=program, before=as_nobody())
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    missing = "only a process with CAP_SYS_ADMIN" if "namespaces.none" in ENTRIES else "clone3 answers"
    assert missing in answer.done.reason
    described = subprocess.check_output([program, "--describe"], user=NOBODY, group=NOBODY, text=True)
    assert missing in described
