"""What ``run`` shows while it goes on: a live table on a terminal, sentences in a log, and what Ctrl-C leaves."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine

from clonometer.app.results import read_results

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PATIENCE_S = 100
WORDS = ("run", "--plan", "turns.toml", "--no-since", "--out", "r.parquet")
#: A pair that is asked first, memory, programs, and more.
PLAN = """
schema = 1
name = "turns"
title = "Turns"
budget_seconds = 60
limits = { processes = 8, samples = 20, blocks = 1, warmup = 0 }
cells = [
    { workloads = ["launch.fork", "launch.pthread"], limits = { turn = 1 } },
    { workloads = ["launch.fork"], set = { parent_bytes = "64MiB" }, limits = { turn = 2 } },
    { workloads = ["launch.posix_spawn", "launch.fork_exec"], limits = { turn = 3 } },
    { workloads = ["launch.vfork"] },
]
"""


def on_terminal(clonometer: CommandLine, width: int, *words: str, interrupt: str = "") -> tuple[int, str, str]:
    """Run a command on a pseudo-terminal: its status, all that it wrote there, and what stood on standard output."""
    (clonometer.folder / "turns.toml").write_text(PLAN.replace("\n    ", " ").replace("\n]", "]"))
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    answer = clonometer.folder / "answer.txt"
    with answer.open("w") as out:
        process = subprocess.Popen(
            clonometer.command(*words),
            cwd=clonometer.folder,
            env={**clonometer.environment(), "COLUMNS": str(width), "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=side,
        )
    os.close(side)
    shown = b""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
        if interrupt and re.search(interrupt, shown.decode(errors="replace")):
            interrupt = ""
            os.kill(process.pid, signal.SIGINT)
    os.close(terminal)
    return process.wait(_PATIENCE_S), shown.decode(), answer.read_text()


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_shows_the_table_while_it_is_measured(clonometer: CommandLine, width: int) -> None:
    status, shown, answer = on_terminal(clonometer, width, *WORDS, "--budget", "3s")
    assert status == 0, shown
    frames = [_ESCAPE.sub("", frame) for frame in shown.split("\x1b[2K")]
    lines = [line.rstrip() for frame in frames for line in re.split(r"[\r\n]+", frame)]
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if re.match(r"[~✓v] (fork|pthread)\b", line)]
    assert rows
    # The pair is there before all others, and in the order of the plan.
    first = next(line for line in lines if re.match(r"[~✓v] (?=\w)", line))
    assert re.match(r"[~✓v] fork +[µum]s", first)
    assert max(map(len, answer.splitlines())) <= width
    assert answer.splitlines()[-1].startswith("Wrote r.parquet")


def test_what_is_interrupted_prints_the_whole_first_screen_and_keeps_what_was_measured(clonometer: CommandLine) -> None:
    status, _, answer = on_terminal(clonometer, 80, *WORDS, "--budget", "60s", interrupt="[~✓v] fork ")
    assert status == 130
    assert "This run is partial: interrupted after" in answer
    assert re.search(r"^fork +[µum]s +\d", answer, re.MULTILINE)
    assert "Next  clonometer" in answer
    assert read_results(clonometer.folder / "r.parquet").status == "partial"
    assert not (clonometer.folder / "r.raw").exists()


def test_a_log_has_each_sentence_once_as_soon_as_it_is_sure(clonometer: CommandLine, tmp_path: Path) -> None:
    ended = clonometer("run", "fork", "pthread", "--sure", "--no-since", "--out", "r.parquet")
    assert ended.returncode == 0, ended.stderr
    sure = [line for line in ended.stderr.splitlines() if line.startswith("sure after ")]
    results = read_results(clonometer.folder / "r.parquet")
    decided = results.first.asked.word.value == "sure"
    assert len(sure) == decided
    if decided:
        assert re.match(r"sure after [\d.]+ s: A (process|thread) ", sure[0])
        times = re.search(r"Decided after ([\d.]+) s(?: of (\d+) s)?\.", ended.stdout)
        assert times
        assert times[2] is None or float(times[2]) >= float(times[1]) + 0.5


@pytest.mark.parametrize("words", [("fork",), ("fork", "pthread", "vfork")])
def test_sure_needs_one_question(clonometer: CommandLine, words: tuple[str, ...]) -> None:
    ended = clonometer("run", *words, "--sure", "--out", "r.parquet")
    assert ended.returncode == 2
    assert "--sure needs one question" in ended.stderr


def test_sure_and_a_width_are_two_ways_to_end(clonometer: CommandLine) -> None:
    ended = clonometer("run", "fork", "pthread", "--sure", "--target-width", "5%")
    assert ended.returncode == 2
    assert "cannot be combined" in ended.stderr
