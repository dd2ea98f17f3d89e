"""``clonometer ab -- COMMAND_A -- COMMAND_B`` with real commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.integration.census import CLONOMETER

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/ab-commands.schema.json").read_text(encoding="utf-8"))


def ab(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CLONOMETER, "ab", *words], capture_output=True, text=True, timeout=120, **options)


def rows(*words: str) -> dict[str, Any]:
    ended = ab("--json", *words)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    return {row["quantity"]: row for row in document["rows"]} | {"empty": document["empty"]}


def test_a_command_that_sleeps_is_slower_by_that_and_takes_little_time_of_a_cpu() -> None:
    answer = rows("--budget", "10s", "--", "true", "--", "sleep", "0.02")
    wall, cpu = answer["wall_time"], answer["cpu_time"]
    assert wall["verdict"] == "slower"
    assert wall["b"]["median"] - wall["a"]["median"] > 15e6
    assert cpu["b"]["median"] < 20e6 < wall["b"]["median"]
    assert 0 < answer["empty"]["median"] < wall["b"]["median"]


def test_a_command_is_not_slower_than_itself() -> None:
    answer = rows("--budget", "5s", "--min-effect", "20%", "--", "true", "--", "true")
    assert {answer[name]["verdict"] for name in ("wall_time", "cpu_time", "peak_memory")} <= {
        "same",
        "not distinguishable",
    }


def test_peak_memory_is_the_command_s_and_not_that_of_who_started_it() -> None:
    takes = [sys.executable, "-S", "-c", "bytearray(80 << 20)"]
    peak = rows("--budget", "8s", "--pairs", "12", "--", "true", "--", *takes)["peak_memory"]
    # Python, which starts all this, has more than that.
    assert peak["a"]["median"] < 8 << 20
    assert 80 << 20 < peak["b"]["median"] < 160 << 20
    assert peak["verdict"] == "higher"


def test_the_time_of_children_counts_and_streams_go_nowhere(tmp_path: Path) -> None:
    spin = "import time\nwhile time.process_time() < 0.05: pass\nprint('x' * 100_000)"
    (tmp_path / "spin.py").write_text(spin)
    child = ["sh", "-c", f"{sys.executable} -S {tmp_path}/spin.py; true"]
    ended = ab("--budget", "6s", "--pairs", "10", "--json", "--", "true", "--", *child)
    row = json.loads(ended.stdout)["rows"][1]
    assert row["quantity"] == "cpu_time"
    assert row["b"]["median"] > 50e6


def test_commands_have_the_user_s_whole_environment() -> None:
    check = ["sh", "-c", 'test "$LD_BIND_NOW" = 1 && test "$MINE" = yes']
    environment = {**os.environ, "LD_BIND_NOW": "1", "MINE": "yes"}
    assert ab("--budget", "2s", "--pairs", "10", "--", *check, "--", *check, env=environment).returncode == 0


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["--", "true", "--", "false"], 4, "false ended with status 1"),
        (["--", "sh", "-c", "kill -9 $$", "--", "true"], 4, "was killed by SIGKILL"),
        (["--", "true", "--", "no-such-command"], 127, "cannot find no-such-command along PATH"),
        (["--", "true", "--", "/etc/passwd"], 126, "cannot execute /etc/passwd"),
        (["--budget", "0.5s", "--", "true", "--", "sleep", "60"], 4, "sleep 60 did not end within 0.5 s"),
        (["--", "true", "--"], 2, "one of the two commands is missing"),
        (["--", "a", "--", "b", "--", "c"], 2, "is there more than once"),
        (["--set", "vmas=1", "--", "true", "--", "true"], 2, "--set is not for two commands"),
        (["--pairs", "5", "--", "true", "--", "true"], 2, "fewer than 10 pairs"),
        (["fork", "--ignore-failure"], 2, "--ignore-failure is of two commands"),
    ],
)
def test_what_fails_is_named(words: list[str], status: int, complaint: str) -> None:
    ended = ab(*words)
    assert (ended.returncode, ended.stdout) == (status, "")
    assert complaint in " ".join(ended.stderr.split())


def test_a_program_whose_interpreter_is_missing_is_not_found(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    ended = ab("--", "true", "--", str(script))
    assert ended.returncode == 127
    assert "the interpreter that its first line names" in ended.stderr


def test_failures_are_ignored_where_that_is_asked_for() -> None:
    ended = ab("--ignore-failure", "--budget", "2s", "--", "false", "--", "sh", "-c", "sleep 0.02; exit 7")
    assert ended.returncode == 0
    assert "B was slower" in ended.stdout


def test_an_interruption_ends_the_command_and_judges_what_there_is() -> None:
    words = [CLONOMETER, "ab", "--budget", "100s", "--", "true", "--", "sleep", "0.31337"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "wall time" in out
    assert "sleep\x000.31337" not in "".join(
        path.read_text(errors="replace") for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()
    )
