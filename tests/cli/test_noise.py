"""``clonometer noise`` end to end with the fake driver."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.conftest import CommandLine

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/noise.schema.json").read_text(encoding="utf-8"))
PLAN = """schema = 1
name = "tiny"
budget_seconds = 600
target_width = "90%"
[limits]
processes = 6
samples = 20
blocks = 1
warmup = 0
[[cells]]
workloads = "launch.pthread"
temperature = "warm"
"""


@pytest.fixture
def tiny(clonometer: CommandLine) -> CommandLine:
    (clonometer.folder / "tiny.toml").write_text(PLAN)
    return clonometer


def test_noise_prints_a_row_a_stage_and_writes_no_file(tiny: CommandLine) -> None:
    before = {path.name for path in tiny.folder.iterdir()}
    ended = tiny("noise", "--plan", "tiny.toml", "--rounds", "2", "--wide")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    for stage in ("call returns", "task runs", "reaped"):
        [row] = [line for line in lines if stage in line]
        assert " 15 " in row  # processes of each half: a round looks at 24, and confirms with a quarter more
    assert "0 of 2 checks alarmed falsely" in " ".join(ended.stdout.split())
    assert {path.name for path in tiny.folder.iterdir()} - before <= {"starts.log"}
    # Both halves of a round get what one run gets.
    assert len(tiny.measuring_pids()) == 2 * 2 * 15


def test_noise_json_is_one_valid_object(tiny: CommandLine) -> None:
    ended = tiny("noise", "--plan", "tiny.toml", "--rounds", "1", "--json", "--max-regression", "10%")
    assert ended.returncode == 0, ended.stderr
    # The checks are simulated for as long as half of the measuring takes: silence would look like a hang.
    assert ended.stderr.splitlines()[-1] == "measured; working out what a check would find"
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    assert (document["plan"], document["rounds"], document["max_regression"]) == ("tiny", 1, 0.1)


def test_an_interrupted_first_round_gives_nothing_and_130(tiny: CommandLine) -> None:
    tiny.environ = {"FAKE_DRIVER_MODE": "slow", "FAKE_DRIVER_SLOW_S": "30"}
    with tiny.start("noise", "--plan", "tiny.toml") as process:
        deadline_s = time.monotonic() + 60
        while not tiny.measuring_pids() and time.monotonic() < deadline_s:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted before one round was measured" in err


def test_what_does_not_exist_is_refused(tiny: CommandLine) -> None:
    ended = tiny("noise", "--plan", "quikc")
    assert ended.returncode == 2
    assert "did you mean 'quick'?" in ended.stderr
