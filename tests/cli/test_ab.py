"""``clonometer ab`` end to end with the fake driver."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.cli.conftest import CommandLine
from tests.fakes import FAKE_DRIVER

from clonometer.cli.ending import run_to_the_end
from clonometer.runfile import open_run

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/ab.schema.json").read_text(encoding="utf-8"))
WARM = ("--set", "temperature=warm", "--seed", "5")
SLOWER = ("--b", "env:FAKE_DRIVER_CHILD_SPIN_NS=60000")


def answer(clonometer: CommandLine, *words: str, status: int = 0) -> Any:
    ended = clonometer("ab", "launch.fork", *WARM, *words, "--json", "--force")
    assert ended.returncode == status, ended.stderr
    document = json.loads(ended.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    return document


def test_a_slower_side_is_a_regression_and_the_run_file_says_the_same(clonometer: CommandLine) -> None:
    words = (*SLOWER, "--pairs", "16", "--max-regression", "10%", "--out", "ab.parquet")
    document = answer(clonometer, *words, status=1)
    assert document["verdict"] == "fail"
    rows = {row["stage"]: row for row in document["rows"]}
    assert rows["reaped"]["verdict"] == "more"
    assert 1.2 < rows["reaped"]["interval"][0] < rows["reaped"]["ratio"] < rows["reaped"]["interval"][1] < 1.7
    assert (rows["reaped"]["pairs"], rows["reaped"]["b_slower"]) == (16, 16)
    assert rows["reaped"]["a"]["median_ns"] < rows["reaped"]["b"]["median_ns"]
    assert rows["call_returns"]["verdict"] in ("equal", "unknown")
    with open_run(clonometer.folder / "ab.parquet") as run:
        entries = run.document.processes
        assert [entry.pair for entry in entries] == [number // 2 for number in range(32)]
        firsts = [entry.cells[0] for entry in entries[::2]]
        assert sum("side=b" in cell for cell in firsts) == 8
        assert run.document.command[:2] == ("clonometer", "ab")
    shown = clonometer("show", "ab.parquet")
    assert shown.returncode == 0
    assert "B was slower in 16 of 16 pairs, by" in " ".join(shown.stdout.split())


def test_a_gate_that_cannot_tell_says_so(clonometer: CommandLine) -> None:
    gate = ("--b", "env:NOTHING=1", "--max-regression", "0.1%", "--pairs", "12")
    assert answer(clonometer, *gate, status=3)["verdict"] == "unknown"


def test_too_little_time_keeps_what_was_measured_and_tells_nothing(clonometer: CommandLine) -> None:
    ended = clonometer("ab", "launch.fork", *WARM, *SLOWER, "--budget", "1ms")
    assert ended.returncode == 3
    assert "more pairs are needed" in " ".join(ended.stdout.split())
    assert (clonometer.folder / "clonometer-ab.parquet").exists()


def test_an_interruption_puts_the_setting_back_and_judges_what_there_is(clonometer: CommandLine) -> None:
    state = clonometer.folder / "state"
    switch = clonometer.folder / "switch"
    switch.write_text(f'#!/bin/sh\necho "$1" >> {state}\n')
    switch.chmod(0o755)
    words = ("--b", f"do={switch} on", "--b", f"undo={switch} off", "--pairs", "1000", "--budget", "300")
    with clonometer.start("ab", "launch.fork", *WARM, *words) as process:
        deadline_s = time.monotonic() + 60
        while len(clonometer.measuring_pids()) < 6 and time.monotonic() < deadline_s:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert state.read_text().split()[-1] == "off"
    assert f"before processes of B: {switch} on; after them: {switch} off" in err
    assert "B was slower in" in " ".join(out.split())
    assert "This run is partial: interrupted" in out


def test_a_setting_that_a_killed_comparison_left_is_put_back_by_the_next_start(clonometer: CommandLine) -> None:
    setting = clonometer.folder / "setting"
    setting.write_text("4\n")
    words = ("--b", f"do=echo 5 > {setting}", "--b", f"undo=echo 4 > {setting}", "--pairs", "1000", "--budget", "300")
    started = clonometer.start("ab", "launch.fork", *WARM, *words)
    limit_s = time.monotonic() + 60
    while setting.read_text() != "5\n":
        assert time.monotonic() < limit_s, started.poll()
        time.sleep(0.001)
    started.kill()
    started.communicate(timeout=60)
    assert setting.read_text() == "5\n"
    ended = clonometer("run", "launch.fork", *WARM, "--budget", "0.1", "--out", "next.parquet")
    assert ended.returncode == 0, ended.stderr
    assert "clonometer: put back: what --b do='echo 5 > " in ended.stderr
    assert setting.read_text() == "4\n"


def test_a_command_that_fails_is_told_and_what_was_measured_is_kept(clonometer: CommandLine) -> None:
    ended = clonometer("ab", "launch.fork", *WARM, "--b", "do=false", "--b", "undo=true", "--seed", "1")
    assert ended.returncode == 4
    assert "clonometer: error: --b do='false' ended with status 1" in ended.stderr


def test_a_setting_is_said_as_it_was_read_back_and_one_never_switched_is_an_error(clonometer: CommandLine) -> None:
    words = ("--b", "do=echo 1 > switched.txt", "--b", "undo=echo 0 > switched.txt", "--pairs", "24")
    document = answer(clonometer, *words, "--out", "ab.parquet")
    [setting] = document["settings"]
    assert (setting["side"], setting["name"], setting["before"]) == ("b", "switched.txt", "0")
    assert (setting["during"], setting["after"]) == ("1", "0")
    assert setting["times"] > 1
    ended = clonometer("ab", "launch.fork", *WARM, *words, "--force")
    assert "switched.txt: 0 -> 1; 0 again after undo" in " ".join(ended.stdout.split())
    (clonometer.folder / "switched.txt").write_text("1\n")
    ended = clonometer("ab", "launch.fork", *WARM, *words, "--force")
    assert ended.returncode == 4
    assert "changed nothing: switched.txt is 1 before and after it" in ended.stderr
    assert "same" not in ended.stdout.replace("the same", "")


@pytest.fixture
def fake_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, where the fake driver is the only one."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "probe-static").symlink_to(FAKE_DRIVER)
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["launch.fork"], 2, "the two sides do not differ"),
        (["launch.fork", "--b", "linkage=static"], 2, "the two sides do not differ"),
        (["launch.fork", "--b", "env:X=1", "--pairs", "5"], 2, "fewer than 12 pairs"),
        (["launch.fork", "--b", "env:X=1", "--pairs", "1001"], 2, "the maximum is 1000"),
        (["launch.frok", "--b", "env:X=1"], 2, "did you mean 'launch.fork'"),
        (["launch.fork", "--b", "env:X=1", "--stage", "reapd"], 2, "did you mean 'reaped'"),
        (["launch.fork", "--b", "linkage=dynamic_lazy"], 4, "B cannot be measured here"),
        (["launch.fork", "--a", "do=echo (", "--a", "undo=true"], 2, "--a do='echo (': sh:"),
        (["launch.fork", "--set", "parent_bytes=0", "--b", "env:X=1", "--b", "env:X=2"], 2, "has env:X twice"),
        (["--plan", "quick", "launch.fork", "--b", "env:X=1"], 2, "cannot be combined"),
        (["launch.fork", "--b", "env:X=1", "--runs", "5"], 2, "--budget 30s"),
    ],
)
def test_bad_input_is_refused_before_anything_is_measured(
    words: list[str], status: int, complaint: str, fake_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_to_the_end(["ab", *words]) == status
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not list(fake_only.glob("*.parquet"))
