"""The axis frequency on a made /sys, all the way: plan, runner, guardian, run file; and set back whatever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import probe
from tests.cli.conftest import CommandLine
from tests.integration.started import command_lines
from tests.integration.test_guardian import CPU, becomes, make_tree, now, read

from clonometer.runfile import open_run

pytestmark = pytest.mark.real

CPUS = sorted(os.sched_getaffinity(0))
MAXIMUM = f"cpu{CPUS[0]}/cpufreq/scaling_max_freq"
PLAN = """
schema = 1
budget_seconds = {budget}
[limits]
samples = 20
blocks = 1
[[cells]]
workloads = ["launch.fork"]
temperature = "warm"
[cells.set]
frequency = [{frequencies}]
"""


@dataclass
class Machine:
    """A made /sys with a frequency driver, and the command that takes it for the real one."""

    root: Path
    files: dict[str, str]
    clonometer: CommandLine

    def start(self, *frequencies: str, budget: float = 0.2) -> subprocess.Popen[str]:
        plan = self.clonometer.folder / "plan.toml"
        quoted = ", ".join(f'"{frequency}"' for frequency in frequencies)
        plan.write_text(PLAN.format(budget=budget, frequencies=quoted))
        return self.clonometer.start("run", "--plan", str(plan), "--out", "run.parquet")

    def is_as_it_was(self) -> bool:
        return becomes(self.root, self.files)

    def await_maximum(self, khz: str) -> None:
        limit_s = time.monotonic() + 60
        while read(self.root, MAXIMUM) != khz:
            assert time.monotonic() < limit_s, "the frequency was never set"
            time.sleep(0.001)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    files = make_tree(tmp_path / "sys", cpus=CPUS)
    (tmp_path / "run").mkdir()
    environ = {"CLONOMETER_BIN": str(probe.folder()), "CLONOMETER_SYS": str(tmp_path / "sys")}
    return Machine(tmp_path / "sys", files, CommandLine(tmp_path / "run", environ))


def test_frequencies_of_a_plan_are_set_around_the_cells_that_ask_for_them(machine: Machine) -> None:
    started = machine.start("as_is", "base", "2000MHz")
    seen = set()
    while started.poll() is None:
        seen.add(read(machine.root, MAXIMUM))
        time.sleep(0.001)
    _, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    usual = machine.files[f"{CPU}/{MAXIMUM}"]
    # A file that is being written may be read empty.
    assert seen - {""} >= {usual, "2600000", "2000000"}
    assert seen - {usual, "2600000", "2000000", "4000000", ""} == set()
    assert now(machine.root, machine.files) == machine.files
    with open_run(machine.clonometer.folder / "run.parquet") as run:
        cells = {cell.cell: cell.status for cell in run.document.cells}
        assert cells == {
            "launch.fork[temperature=warm]": "ok",
            "launch.fork[frequency=base,temperature=warm]": "ok",
            "launch.fork[frequency=2000MHz,temperature=warm]": "ok",
        }


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_settings_come_back_however_the_run_ends(machine: Machine, end: signal.Signals) -> None:
    started = machine.start("base", budget=600)
    machine.await_maximum("2600000")
    started.send_signal(end)
    started.communicate(timeout=60)
    assert started.returncode == (-end if end == signal.SIGKILL else 130)
    assert machine.is_as_it_was()
    assert no_guardian_is_left(machine.root)


def test_the_next_run_puts_back_what_was_killed_with_its_guardians_and_says_so(machine: Machine) -> None:
    """All that was in a PID namespace dies at once, as in a container that is killed."""
    clonometer = machine.clonometer
    words = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; true', "sh", sys.executable]
    if subprocess.run([*words[:3], "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no PID namespace can be made here")
    plan = clonometer.folder / "plan.toml"
    plan.write_text(PLAN.format(budget=600, frequencies='"base"'))
    started = subprocess.Popen(
        [*words, "-m", "clonometer", "run", "--plan", plan, "--out", "killed.parquet"],
        cwd=clonometer.folder,
        env=os.environ | clonometer.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    machine.await_maximum("2600000")
    started.kill()
    started.communicate(timeout=60)
    assert no_guardian_is_left(machine.root)
    assert now(machine.root, machine.files) != machine.files
    _, err = (next_run := machine.start("as_is")).communicate(timeout=100)
    assert next_run.returncode == 0, err
    assert err.count("put back: CPU frequency settings that a killed measurement had left changed") == 1
    assert now(machine.root, machine.files) == machine.files


def no_guardian_is_left(root: Path) -> bool:
    return patiently(lambda: not any(str(root).encode() in line for line in guardians()))


def patiently(condition: Callable[[], bool]) -> bool:
    limit_s = time.monotonic() + 10
    while not condition():
        if time.monotonic() > limit_s:
            return False
        time.sleep(0.02)
    return True


def guardians() -> list[bytes]:
    return [line for line in command_lines() if b"clonometer-guardian" in line]


def test_where_cpufreq_is_missing_the_cell_is_skipped_with_the_reason(machine: Machine) -> None:
    for cpu in CPUS:
        (machine.root / CPU / f"cpu{cpu}/cpufreq/scaling_max_freq").unlink()
    _, err = (started := machine.start("as_is", "turbo")).communicate(timeout=60)
    assert started.returncode == 0, err
    with open_run(machine.clonometer.folder / "run.parquet") as run:
        ends = {cell.cell: cell for cell in run.document.cells}
    assert ends["launch.fork[temperature=warm]"].status == "ok"
    skipped = ends["launch.fork[frequency=turbo,temperature=warm]"]
    assert skipped.status == "skipped"
    assert f"CPU {CPUS[0]} has no" in str(skipped.reason)
    assert "scaling_max_freq" in str(skipped.reason)


def test_what_cannot_be_set_back_fails_the_cell_and_is_not_made_worse(machine: Machine) -> None:
    started = machine.start("base", budget=600)
    machine.await_maximum("2600000")
    (machine.root / CPU / f"cpu{CPUS[0]}/cpufreq/scaling_governor").unlink()
    out, err = started.communicate(timeout=100)
    assert started.returncode == 4, err
    assert "was not restored" in out
    assert "scaling_governor" in out


@pytest.mark.parametrize("value", ["fast", "2400", "-1MHz", "2.4.1GHz"])
def test_a_frequency_that_is_none_is_refused_before_anything_starts(machine: Machine, value: str) -> None:
    out, err = (started := machine.start(value)).communicate(timeout=60)
    assert (started.returncode, out) == (2, "")
    assert f"frequency = '{value}'" in err
    assert "2400MHz" in err


def test_the_probe_itself_is_never_asked_for_a_frequency() -> None:
    answer = probe.ask("workload=launch.fork", "frequency=base", "samples=3")
    assert (answer.done.status, answer.exit_status) == ("failed", 1)
    assert "clonometer-guardian" in answer.done.reason
    assert probe.ask("workload=launch.fork", "frequency=as_is", "samples=3", "blocks=1").done.status == "ok"
