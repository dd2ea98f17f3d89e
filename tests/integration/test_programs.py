"""What an exec starts: our targets stamp their entry, commands get their arguments, names are taken as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import probe
from tests.probe import present

pytestmark = pytest.mark.real

EXECS = ["launch.fork_exec", "launch.vfork_exec", "launch.posix_spawn"]
TARGETS = ["target_nolibc", "target_static", "target_dynamic", "target_cxx"]


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("clock", ["tsc", "monotonic"])
@pytest.mark.parametrize("workload", EXECS)
@pytest.mark.parametrize("target", TARGETS)
def test_our_targets_stamp_their_entry(target: str, workload: str, clock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (probe.folder() / target).exists():
        pytest.skip(f"{target} was not built: no compiler for it")
    if f"clock={clock}" not in probe.clock_words() and clock == "tsc":
        pytest.skip("this machine has no TSC to trust")
    if clock == "monotonic":
        monkeypatch.setattr(probe, "clock_words", lambda: ("clock=monotonic",))
    answer = probe.ask(f"workload={workload}", f"program={target}", "samples=4", "blocks=1", "warmup=1")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 4}
    assert len(present(block, "image_runs_ns")) == len(present(block, "cpu_child")) == 4
    assert (block.columns["image_runs_ns"] < block.columns["reaped_ns"]).all()


@pytest.mark.parametrize("workload", EXECS)
def test_a_command_gets_its_arguments(workload: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = script(tmp_path / "say", f'for word in "$@"; do echo "<$word>" >> {said}; done')
    command = rf"{program}:one:two words:three\:colons:four\\slashes::six"
    answer = probe.ask(f"workload={workload}", f"program={command}", "samples=1", "blocks=1", "warmup=0")
    assert answer.blocks[0].outcomes == {"ok": 1}
    assert said.read_text().splitlines() == ["<one>", "<two words>", "<three:colons>", r"<four\slashes>", "<>", "<six>"]


@pytest.mark.parametrize("name", ["plain", "with spaces in it", "with:colon", r"with\backslash"])
def test_any_path_can_be_named(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = script(tmp_path / "folder" / name, f"touch {mark}")
    escaped = str(program).replace("\\", r"\\").replace(":", r"\:")
    answer = probe.ask("workload=launch.vfork_exec", f"program={escaped}", "samples=1", "blocks=1", "warmup=0")
    assert answer.blocks[0].outcomes == {"ok": 1}
    assert mark.exists()


def test_a_name_without_a_slash_is_not_searched_for() -> None:
    answer = probe.ask("workload=launch.vfork_exec", "program=sh:-c:true")
    assert answer.done.status == "skipped"
    assert "sh:-c:true cannot be started" in answer.done.reason


@pytest.mark.parametrize("program", ["", ":".join("abcdefghijklmnopqrstuvwxyz")])
def test_a_command_that_cannot_be_meant_is_refused(program: str) -> None:
    answer = probe.ask("workload=launch.fork_exec", f"program={program}")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "cannot be started" in answer.done.reason


def test_targets_may_lie_elsewhere(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script(tmp_path / "target_static", f"touch {mark}")
    words = [f"targets={tmp_path}", "samples=1", "blocks=1", "warmup=0"]
    assert probe.ask("workload=launch.fork_exec", *words).blocks[0].outcomes == {"ok": 1}
    assert mark.exists()
