"""When a census ends, whom it ends, and whom it waits for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import CLONOMETER, can_trace, ended_after, run, until
from tests.integration.leftovers import gone

pytestmark = pytest.mark.real


def test_a_command_that_forks_for_ever_is_ended(seen_by: str) -> None:
    ended = run("--how", seen_by, "--for", "500ms", "--json", "--", "sh", "-c", "while :; do (exit 0); done")
    answer = json.loads(ended.stdout)
    assert ended.returncode == 124
    assert answer["timed_out"] is True
    assert answer["tasks_created"] > 1


def test_a_daemon_outlives_the_census_and_is_said_to(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    ended = run("--json", "--", "sh", "-c", f"sleep 30 >/dev/null 2>&1 & echo $! >{pid_file}")
    daemon = int(pid_file.read_text())
    try:
        assert json.loads(ended.stdout)["still_running"] == 1
        os.kill(daemon, 0)
    finally:
        os.kill(daemon, signal.SIGKILL)


DAEMON = """
import os, sys
if os.fork():
    sys.exit(3)
os.setsid()
if os.fork():
    os._exit(0)
os.close(1), os.close(2)
gate = os.open("go", os.O_RDWR)
os.mkdir("there")
os.read(gate, 1)
for _ in range(2):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""


@pytest.mark.parametrize("by", [None, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_until_all_end_the_census_goes_on_with_a_daemon(
    seen_by: str, tmp_path: Path, by: signal.Signals | None
) -> None:
    os.mkfifo(tmp_path / "go")
    words = [CLONOMETER, "census", "--how", seen_by, "--until-all-end", "--json", "--", sys.executable, "-c", DAEMON]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(words, cwd=tmp_path, **pipes) as census, ended_after(census):
        assert "The command has ended; " in census.stderr.readline()
        until((tmp_path / "there").exists)
        if by is not None:
            os.killpg(census.pid, by)
            census.wait(timeout=60)
        (tmp_path / "go").write_text("1")
        answer = json.loads(census.communicate(timeout=60)[0])
    assert census.returncode == 3, "the command's own"
    assert answer["interrupted"] is (by is not None)
    if by is not None:
        assert answer["still_running"] >= 1
    else:
        assert (answer["tasks_created"], answer["still_running"]) == (4, 0)


def test_a_process_that_ends_meanwhile_ends_its_census() -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    with subprocess.Popen(["sh", "-c", "sleep 3; /bin/true; exit 4"]) as process:
        ended = run("--pid", str(process.pid), "--for", "60s", "--json")
    answer = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert answer["timed_out"] is False
    assert answer["wall_ns"] < 30e9
    assert answer["still_running"] == 0


def test_it_is_ended_with_all_of_its_group_and_what_left_the_group_lives_on(seen_by: str, tmp_path: Path) -> None:
    endless = "while :; do sleep 60.5 >/dev/null 2>&1 & echo $! >>children; sleep 0.01; done"
    leaving = (
        "setsid sh -c 'echo $$ >daemon; exec sleep 61.5' >/dev/null 2>&1 & until [ -s daemon ]; do sleep 0.01; done"
    )
    script = f"{leaving}; {endless}"
    ended = run("--how", seen_by, "--for", "2s", "--json", "--", "sh", "-c", script, cwd=tmp_path)
    daemon = int((tmp_path / "daemon").read_text())
    try:
        assert ended.returncode == 124, ended.stderr
        children = [int(pid) for pid in (tmp_path / "children").read_text().split()]
        assert len(children) > 1
        assert gone(lambda: [pid for pid in children if runs(pid, "60.5")])
        assert runs(daemon, "61.5")
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_it_ends_those_whose_events_had_no_room(tmp_path: Path) -> None:
    """As on a machine that is short of processors, where nobody reads the events in time: who reads them is stopped."""
    begin = "for i in $(seq 400); do sleep 62.5 >/dev/null 2>&1 & echo $! >>children; done"
    script = f"kill -STOP $PPID; {begin}; kill -CONT $PPID; while :; do sleep 0.1; done"
    ended = run("--buffer", "4KiB", "--for", "4s", "--json", "--", "sh", "-c", script, cwd=tmp_path)
    assert ended.returncode == 124
    answer = json.loads(ended.stdout)
    assert answer["lost_events"] > 0 or answer["how"] == "ptrace"
    children = [int(pid) for pid in (tmp_path / "children").read_text().split()]
    assert len(children) == 400
    assert gone(lambda: [pid for pid in children if runs(pid, "62.5")])


def runs(pid: int, word: str) -> bool:
    """Whether a process is there with that word; one that nobody has waited for has none."""
    try:
        return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
