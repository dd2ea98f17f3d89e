"""Starting a census: whom it waits for, and what it says of a census that cannot be taken."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clonometer.errors import DriverError, UnavailableError
from clonometer.runner.census import NAME, take_census
from clonometer.runner.drivers import BIN_VARIABLE


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: object, then: str = "") -> None:
    """Put a census in place that gives these lines on its descriptor, closes it, and does something else."""
    tool = folder / NAME
    answer = "".join(json.dumps(line) + "\n" for line in lines)
    writing = f"os.fdopen(int(sys.argv[2]), 'wb', closefd=False).write({answer.encode()!r})"
    text = f"import os, sys\n{writing}\nos.close(int(sys.argv[2]))\n{then}\n"
    tool.write_text(f"#!{sys.executable}\n{text}")
    tool.chmod(0o755)
    monkeypatch.setenv(BIN_VARIABLE, str(folder))


BEGIN = {"line": "begin", "how": "tracepoints"}
END = {"line": "end", "status": "ok"}


def test_nobody_waits_while_it_stops_listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "gate")
    pretend(tmp_path, monkeypatch, BEGIN, END, then=f"open({str(tmp_path / 'gate')!r}).read()")
    received: list[dict[str, Any]] = []
    take_census(received.append, command=["true"], hooks=False)
    assert [line["line"] for line in received] == ["begin", "end"]
    # Only now may it end: nobody could open this side of the gate if it did not wait at the other.
    deadline = time.monotonic() + 30
    while True:
        try:
            os.close(os.open(tmp_path / "gate", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        else:
            break


def test_a_census_that_says_no_end_is_an_error_with_its_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, BEGIN, then="sys.exit(7)")
    with pytest.raises(DriverError, match="status 7"):
        take_census(lambda line: None, command=["true"])


def test_a_refusal_is_given_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, {"line": "end", "status": "refused", "reason": "no room"})
    with pytest.raises(UnavailableError, match="no room"):
        take_census(lambda line: None, command=["true"])


def test_what_tasks_have_in_common_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = {**BEGIN, "columns": ["kind", "tid", "call_ns"]}
    forks = {"line": "kind", "kind": 3, "call": "fork", "execs": 0}
    threads = {"line": "kind", "kind": 3, "call": "clone", "execs": 0}
    answer = [begin, forks, [3, 11, 500], [3, 12, None], threads, [3, 13, 90], END]
    pretend(tmp_path, monkeypatch, *answer)
    received: list[dict[str, Any]] = []
    take_census(received.append, command=["true"], hooks=False)
    tasks = [line for line in received if line["line"] == "task"]
    assert [(task["tid"], task["call"], task["call_ns"]) for task in tasks] == [
        (11, "fork", 500),
        (12, "fork", None),
        (13, "clone", 90),
    ]
    assert len(received) == len(tasks) + 2


def test_lines_longer_than_a_pipe_come_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = {"line": "site", "frames": ["x" * 300_000]}
    pretend(tmp_path, monkeypatch, BEGIN, long, END)
    received: list[dict[str, Any]] = []
    take_census(received.append, command=["true"], hooks=False)
    assert received == [BEGIN, long, END]


def test_what_is_no_json_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, BEGIN, END)
    tool = tmp_path / NAME
    tool.write_text(tool.read_text().replace('{"line": "end"', "{line: end"))
    with pytest.raises(DriverError, match="line: end"):
        take_census(lambda line: None, command=["true"])
