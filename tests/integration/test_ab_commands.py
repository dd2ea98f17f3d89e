"""``clonometer ab -- COMMAND_A -- COMMAND_B`` with real commands."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import CLONOMETER
from tests.integration.census import clonometer as of_server
from tests.schemas import check

import clonometer
from clonometer.errors import NotStartedError, UsageError
from clonometer.runner.interfaces import Progress
from clonometer.verdicts import Direction


def ab(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return of_server("ab", *words, **options)


def rows(*words: str) -> dict[str, Any]:
    ended = ab("--json", *words)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    check(document, "ab-commands")
    return {row["quantity"]: row for row in document["rows"]} | {"empty": document["empty"]}


def test_a_command_that_sleeps_is_slower_by_that_and_takes_little_time_of_a_cpu() -> None:
    answer = rows("--budget", "10s", "--", "true", "--", "sleep", "0.02")
    wall, cpu = answer["wall_time"], answer["cpu_time"]
    assert wall["verdict"] == "more"
    assert wall["b"]["median"] - wall["a"]["median"] > 15e6
    assert cpu["b"]["median"] < 20e6 < wall["b"]["median"]
    assert 0 < answer["empty"]["median"] < wall["b"]["median"]


def test_a_command_is_not_slower_than_itself() -> None:
    answer = rows("--budget", "5s", "--min-effect", "20%", "--", "true", "--", "true")
    assert {answer[name]["verdict"] for name in ("wall_time", "cpu_time", "peak_memory")} <= {
        "equal",
        "unknown",
    }


def test_a_side_has_its_own_variable_in_an_environment_of_the_same_size(tmp_path: Path) -> None:
    def look(side: str) -> list[str]:
        kept = tmp_path / side
        return ["sh", "-c", f'tr "\\0" "\\n" </proc/self/environ >{kept}; wc -c </proc/self/environ >>{kept}']

    words = ["--b", "env:CLONOMETER_SIDE=b", "--pairs", "12", "--budget", "20s", "--json", "--", *look("a"), "--"]
    ended = ab(*words, *look("b"))
    assert ended.returncode in (0, 3), ended.stderr
    document = json.loads(ended.stdout)
    check(document, "ab-commands")
    assert (document["a_settings"], document["b_settings"]) == ([], ["env:CLONOMETER_SIDE=b"])
    *of_a, bytes_of_a = (tmp_path / "a").read_text().split("\n")[:-1]
    *of_b, bytes_of_b = (tmp_path / "b").read_text().split("\n")[:-1]
    assert "CLONOMETER_SIDE=b" in of_b
    assert not any(line.startswith("CLONOMETER_SIDE=") for line in of_a)
    assert bytes_of_a == bytes_of_b


def test_one_command_is_both_sides_where_a_setting_differs(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = ["sh", "-c", f"echo ${{CLONOMETER_SIDE-none}} >>{seen}"]
    ended = ab("--b", "env:CLONOMETER_SIDE=b", "--pairs", "12", "--budget", "20s", "--json", "--", *command)
    assert ended.returncode in (0, 3), ended.stderr
    document = json.loads(ended.stdout)
    assert document["a"] == document["b"] == command
    assert "(with env:CLONOMETER_SIDE=b), for 20 s at most" in ended.stderr
    assert "a program of its own" not in ended.stderr
    assert sorted(seen.read_text().split()) == ["b"] * (document["pairs"] + 1) + ["none"] * (document["pairs"] + 1)


def test_a_side_s_setting_is_switched_for_its_starts_alone_and_put_back(tmp_path: Path) -> None:
    setting, seen = tmp_path / "setting", tmp_path / "seen"
    setting.write_text("usual")
    words = ["--b", f"do=echo -n other >{setting}", "--b", f"undo=echo -n usual >{setting}", "--pairs", "12"]
    commands = [["sh", "-c", f"echo {side} $(cat {setting}) >>{seen}"] for side in "ab"]
    ended = ab(*words, "--budget", "20s", "--json", "--", *commands[0], "--", *commands[1])
    assert ended.returncode in (0, 3), ended.stderr
    assert set(seen.read_text().splitlines()) == {"a usual", "b other"}
    assert setting.read_text() == "usual"
    [switched] = json.loads(ended.stdout)["settings"]
    assert (switched["side"], switched["during"], switched["after"]) == ("b", "other", "usual")


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (["true"], ["env", "X=1", "true"], "B begins with env, a program of its own"),
        (["nice", "true"], ["true"], "A begins with nice"),
        (["env", "true"], ["env", "X=1", "true"], None),
        (["true"], ["true"], None),
    ],
)
def test_what_starts_one_command_alone_is_named(first: list[str], second: list[str], words: str | None) -> None:
    ended = ab("--pairs", "12", "--budget", "3s", "--", *first, "--", *second)
    assert ended.returncode in (0, 3), ended.stderr
    assert ("a program of its own" in ended.stderr) == (words is not None)
    assert words is None or words in ended.stderr


def test_peak_memory_is_the_command_s_and_not_that_of_who_started_it() -> None:
    takes = [sys.executable, "-S", "-c", "bytearray(80 << 20)"]
    peak = rows("--budget", "60s", "--pairs", "16", "--", "true", "--", *takes)["peak_memory"]
    # Python, which starts all this, has more than that.
    assert peak["a"]["median"] < 8 << 20
    assert 80 << 20 < peak["b"]["median"] < 160 << 20
    assert peak["verdict"] == "more"


def test_the_time_of_children_counts_and_streams_go_nowhere(tmp_path: Path) -> None:
    spin = "import time\nwhile time.process_time() < 0.05: pass\nprint('x' * 100_000)"
    (tmp_path / "spin.py").write_text(spin)
    child = ["sh", "-c", f"{sys.executable} -S {tmp_path}/spin.py; true"]
    ended = ab("--budget", "6s", "--pairs", "12", "--json", "--", "true", "--", *child)
    row = json.loads(ended.stdout)["rows"][1]
    assert row["quantity"] == "cpu_time"
    assert row["b"]["median"] > 50e6


def test_commands_have_the_user_s_whole_environment() -> None:
    check = ["sh", "-c", 'test "$LD_BIND_NOW" = 1 && test "$MINE" = yes']
    environment = {**os.environ, "LD_BIND_NOW": "1", "MINE": "yes"}
    assert ab("--budget", "2s", "--pairs", "12", "--", *check, "--", *check, env=environment).returncode == 0


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["--", "true", "--", "false"], 4, "false ended with status 1"),
        (["--", "sh", "-c", "kill -9 $$", "--", "true"], 4, "was killed by SIGKILL"),
        (["--", "true", "--", "no-such-command"], 127, "cannot find no-such-command along PATH"),
        (["--", "true", "--", "/etc/passwd"], 126, "cannot execute /etc/passwd"),
        (["--budget", "0.5s", "--", "true", "--", "sleep", "60"], 4, "sleep 60 did not end within 0.5 s"),
        (["--", "true", "--"], 2, "a command is missing"),
        (["--", "true"], 2, "the two sides do not differ"),
        (["fork", "--", "true"], 2, "fork stands before --"),
        (["--", "a", "--", "b", "--", "c"], 2, "but occurs more than once"),
        (["--set", "vmas=1", "--", "true", "--", "true"], 2, "--set does not apply to commands of your own"),
        (["--b", "vmas=1", "--", "true", "--", "true"], 2, "--b vmas=1: a command of your own has no vmas"),
        (["--out", "run.parquet", "--", "true", "--", "true"], 2, "must end in .json"),
        (["--pairs", "5", "--", "true", "--", "true"], 2, "fewer than 12 pairs"),
        (["fork", "--ignore-failure"], 2, "--ignore-failure needs commands"),
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
    assert "the interpreter named in its first line" in ended.stderr


def test_failures_are_ignored_where_that_is_asked_for() -> None:
    ended = ab("--ignore-failure", "--budget", "2s", "--", "false", "--", "sh", "-c", "sleep 0.02; exit 7")
    assert ended.returncode == 0
    assert "B was slower" in ended.stdout


def test_the_answer_is_written_with_the_values_of_each_start(tmp_path: Path) -> None:
    out = tmp_path / "answer.json"
    words = ["--budget", "5s", "--pairs", "12", "--out", str(out), "--", "true", "--", "true"]
    ended = ab("--json", *words)
    assert out.read_text(encoding="utf-8") == ended.stdout
    document = json.loads(ended.stdout)
    check(document, "ab-commands")
    assert len(document["starts"]) == document["pairs"] <= 12
    a_ns = sorted(pair["a"]["wall_time"] for pair in document["starts"])
    assert document["rows"][0]["a"]["median"] in (
        a_ns[len(a_ns) // 2],
        (a_ns[len(a_ns) // 2 - 1] + a_ns[len(a_ns) // 2]) / 2,
    )
    assert {pair["first"] for pair in document["starts"]} == {"a", "b"}
    again = ab(*words)
    assert (again.returncode, "answer.json exists" in again.stderr) == (2, True)
    assert out.read_text(encoding="utf-8") == ended.stdout


def test_progress_is_shown_on_a_terminal_before_each_start() -> None:
    terminal, inner = pty.openpty()
    words = [CLONOMETER, "ab", "--budget", "3s", "--pairs", "12", "--", "true", "--", "sleep", "0.1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=inner) as process:
        os.close(inner)
        shown = bytearray()
        with contextlib.suppress(OSError):
            while data := os.read(terminal, 65536):
                shown += data
    os.close(terminal)
    assert process.returncode in (0, 3)
    assert b"warm-up: B" in shown
    assert b"pair 2 of at most 12: A" in shown
    assert b"s left" in shown


def test_an_interruption_ends_the_command_and_judges_and_keeps_what_there_is(tmp_path: Path) -> None:
    out, started = tmp_path / "answer.json", tmp_path / "started"
    b = ["sh", "-c", f"echo >> {started}; exec sleep 0.31337"]
    words = [CLONOMETER, "ab", "--budget", "100s", "--out", str(out), "--", "true", "--", *b]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # Once before, and twice in pairs, of which the first has then ended.
        while not started.exists() or len(started.read_text()) < 3:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        answer, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "wall time" in answer
    kept = json.loads(out.read_text(encoding="utf-8"))
    assert (kept["status"], kept["status_reason"]) == ("partial", "interrupted")
    assert kept["starts"]
    assert "sleep\x000.31337" not in "".join(
        path.read_text(errors="replace") for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()
    )


def test_from_python_it_is_a_function_of_two_commands() -> None:
    watched: list[str] = []

    class Watcher(Progress):
        def start_begins(self, what: str, elapsed_s: float, remaining_s: float | None) -> None:
            watched.append(what)

    answer = clonometer.ab_commands(["true"], ["sleep", "0.02"], budget_s=5, seed=1, progress=Watcher())
    [wall_time] = [row for row in answer.rows if row.quantity == "wall_time"]
    assert wall_time.change.direction == Direction.MORE
    assert watched[:2] == ["warm-up: A", "warm-up: B"]
    assert watched[2:4] in (["pair 1 of at most 200: A", "pair 1 of at most 200: B"],
                            ["pair 1 of at most 200: B", "pair 1 of at most 200: A"])  # fmt: skip
    with pytest.raises(UsageError, match="nothing can be shown"):
        clonometer.ab_commands(["true"], ["true"], most_pairs=2)
    with pytest.raises(NotStartedError):
        clonometer.ab_commands(["no-such-command-anywhere"], ["true"])


def test_a_variable_that_does_nothing_to_the_program_is_named(tmp_path: Path) -> None:
    static = tmp_path / "static"
    compiled = subprocess.run(
        ["cc", "-static", "-x", "c", "-o", str(static), "-"],
        input="int main(void) { return 0; }",
        text=True,
        check=False,
    )
    if compiled.returncode:
        pytest.skip("no static C library")
    words = ["--pairs", "12", "--budget", "2s", "--b", "env:LD_BIND_NOW=1", "--", str(static)]
    ended = ab(*words)
    assert f"B: LD_BIND_NOW does nothing to {static}: it is linked statically" in " ".join(ended.stderr.split())
    assert "does nothing" not in ab(*words[:-1], sys.executable, "-S", "-c", "0").stderr
