"""What an exec starts: our targets stamp their entry, commands get their arguments, names are taken as they are."""

from __future__ import annotations

import platform
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
def test_our_targets_stamp_their_entry_and_their_main(
    target: str, workload: str, clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (probe.folder() / target).exists():
        pytest.skip(f"{target} was not built: no compiler for it")
    if f"clock={clock}" not in probe.clock_words() and clock == "tsc":
        pytest.skip("this machine has no TSC to trust")
    if clock == "monotonic":
        monkeypatch.setattr(probe, "clock_words", lambda: ("clock=monotonic",))
    answer = probe.ask(f"workload={workload}", f"program={target}", "samples=4", "blocks=1", "warmup=1")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 4}
    stages = [block.columns[f"{name}_ns"] for name in ("image_entered", "image_runs", "image_ends", "reaped")]
    assert all(len(present(block, f"{name}_ns")) == 4 for name in ("image_entered", "image_runs", "image_ends"))
    assert len(present(block, "cpu_child")) == 4
    # Without a C library the entry is the program's own first code.
    assert (stages[0] == stages[1] if target == "target_nolibc" else stages[0] < stages[1]).all()
    assert (stages[1] < stages[2]).all()
    assert (stages[2] < stages[3]).all()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="CPUID is an instruction of x86")
def test_the_librarys_start_is_before_main_however_a_program_is_linked() -> None:
    shares = {}
    for target in ("target_nolibc", "target_static", "target_dynamic"):
        answer = probe.ask("workload=program.steps", f"program={target}", "samples=5", "blocks=1", "warmup=5")
        (block,) = answer.blocks
        # Counts do not vary: one launch is enough, whatever is asked for.
        assert block.outcomes == {"ok": 1}
        shares[target] = {name: int(values[0]) for name, values in block.columns.items()}
    bare, static, dynamic = shares.values()
    assert (bare["cpuid"], bare["loader_instructions"], bare["instructions"] < 1000) == (0, 0, True)
    # The C library asks the processor what it can: after the entry in a static program, in ld.so in a dynamic one.
    assert static["start_cpuid"] == static["cpuid"] > 0
    assert (static["loader_instructions"], dynamic["start_cpuid"]) == (0, 0)
    assert dynamic["loader_cpuid"] == dynamic["cpuid"] > 0
    # A machine that is busy may need longer for ld.so's 100,000 steps than is waited.
    for counted in (each for each in (static, dynamic) if each["ended"]):
        phases = [counted[f"{name}_instructions"] for name in ("loader", "start", "main", "exit")]
        assert sum(phases) == counted["instructions"]
        assert min(phases[1:]) > 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="CPUID is an instruction of x86")
def test_each_variable_that_fills_up_the_environment_makes_the_start_longer() -> None:
    counted = []
    for size in (6_000, 9_000):
        (block,) = probe.ask("workload=program.steps", f"env_bytes={size}", "blocks=1").blocks
        counted.append({name: int(values[0]) for name, values in block.columns.items()})
    few, many = counted
    assert (few["ended"], many["ended"]) == (1, 1)
    # 20 variables of 150 bytes; the C library looks at the name of each.
    assert many["start_instructions"] - few["start_instructions"] > 20 * 50
    assert abs(many["main_instructions"] - few["main_instructions"]) < 100


@pytest.mark.parametrize("workload", EXECS)
def test_a_command_gets_its_arguments(workload: str, tmp_path: Path) -> None:
    output = tmp_path / "said"
    program = script(tmp_path / "say", f'for word in "$@"; do echo "<$word>" >> {output}; done')
    command = rf"{program}:one:two words:three\:colons:four\\slashes::six"
    answer = probe.ask(f"workload={workload}", f"program={command}", "samples=1", "blocks=1", "warmup=0")
    assert answer.blocks[0].outcomes == {"ok": 1}
    assert output.read_text().splitlines() == [
        "<one>",
        "<two words>",
        "<three:colons>",
        r"<four\slashes>",
        "<>",
        "<six>",
    ]


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
