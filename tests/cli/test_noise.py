"""``clonometer noise`` end to end with the fake driver."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.conftest import CommandLine
from tests.integration import container

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
    assert "0 of 2 checks raised a false alarm" in " ".join(ended.stdout.split())
    assert {path.name for path in tiny.folder.iterdir()} - before <= {"starts.log"}
    # Both halves of a round get what one run gets.
    assert len(tiny.measuring_pids()) == 2 * 2 * 15


def test_noise_json_is_one_valid_object(tiny: CommandLine) -> None:
    ended = tiny("noise", "--plan", "tiny.toml", "--rounds", "1", "--json", "--max-regression", "10%")
    assert ended.returncode == 0, ended.stderr
    # The checks are simulated for as long as half of the measuring takes: silence would look like a hang.
    assert ended.stderr.splitlines()[-1] == "measured; computing what a check would detect"
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    assert (document["plan"], document["rounds"], document["max_regression"]) == ("tiny", 1, 0.1)


def test_noise_tells_what_the_layout_of_memory_does(tiny: CommandLine) -> None:
    ended = tiny("noise", "--plan", "tiny.toml", "--rounds", "1", "--layout", "1500ms", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    layouts = document["layouts"]
    assert layouts["reason"] is None
    assert [row["stage"] for row in layouts["rows"]] == ["call_returns", "task_runs", "reaped"]
    started = len(tiny.measuring_pids()) - 2 * 15
    assert started >= 4
    for row in layouts["rows"]:
        assert row["drawn_pairs"] + row["same_pairs"] in (started // 2, started // 2 - 1)
        assert abs(row["drawn_pairs"] - row["same_pairs"]) <= 1


@pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")
def test_where_the_layout_cannot_be_repeated_the_answer_says_why(tiny: CommandLine) -> None:
    words = tiny.command("noise", "--plan", "tiny.toml", "--rounds", "1", "--layout", "1ms")
    ended = subprocess.run(
        words, cwd=tiny.folder, env=tiny.environment(), capture_output=True, text=True, check=False, timeout=120,
        preexec_fn=lambda: container.refuse(("personality",), errno.EPERM),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    text = " ".join(ended.stdout.split())
    assert "0 of 1 check raised a false alarm" in text
    assert "comes from memory layout is not known: a memory layout cannot be repeated here" in text
    assert "personality(ADDR_NO_RANDOMIZE): Operation not permitted" in text
    assert "seccomp" in text


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
