"""A command that may not be watched never runs, a signal at its start is never lost, a stopped reader stops nothing."""

from __future__ import annotations

import errno
import itertools
import json
import os
import platform
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration import container
from tests.integration.census import CLONOMETER, can_trace, ended_after, run, until
from tests.integration.leftovers import gone
from tests.integration.started import happens, members
from tests.integration.watchers import Sender, Watcher, census_words, on_one_cpu, sender, tracer_words

pytestmark = pytest.mark.real

# Each of them failed in one try of six or more before there was a gate; `make torture` tries so for longer.
TRIES = 8
# All signals are handled alike: one is tried often, and each of the others by both ways.
ENDING = {signal.SIGINT: TRIES, signal.SIGQUIT: 2, signal.SIGTERM: 2, signal.SIGHUP: 2}
PIPED: Any = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}

FILTERED = pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")


@pytest.fixture(scope="module")
def terminal() -> Iterator[Sender]:
    with sender() as made:
        yield made


@pytest.mark.parametrize(
    ("how", "refused"),
    [
        ("ptrace", ("ptrace",)),
        ("auto", ("ptrace", "perf_event_open")),
        ("auto", ("ptrace", "perf_event_open", "bpf")),
        ("tracepoints", ("perf_event_open",)),
    ],
)
@FILTERED
def test_a_command_that_may_not_be_watched_never_runs(how: str, refused: tuple[str, ...], tmp_path: Path) -> None:
    def before() -> None:
        on_one_cpu()
        container.refuse(refused, errno.EPERM)

    for _ in range(TRIES):
        watcher = Watcher(census_words(how, "/bin/mkdir", str(tmp_path / "ran")), before)
        [end] = watcher.lines()
        assert (end["status"], end["exit_status"]) == ("refused", -1)
        assert "Operation not permitted" in end["reason"] or "perf" in end["reason"]
        assert watcher.left_nothing()
        assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("how", "refused"),
    [("ptrace", ("ptrace",)), ("tracepoints", ("perf_event_open",)), ("own", ("perf_event_open",)), ("fast", ("bpf",))],
)
@FILTERED
def test_a_probe_that_may_not_be_traced_never_runs(how: str, refused: tuple[str, ...], tmp_path: Path) -> None:
    def before() -> None:
        on_one_cpu()
        container.refuse(refused, errno.EPERM)

    for _ in range(TRIES):
        watcher = Watcher(tracer_words(how, "/bin/mkdir", str(tmp_path / "ran"), "{traced fd}"), before)
        assert watcher.end().startswith(b"CLNTRACE")
        assert watcher.left_nothing()
        assert not (tmp_path / "ran").exists()


def test_nothing_runs_whose_watcher_was_killed_before_it_watched(seen_by: str, tmp_path: Path) -> None:
    # Three of five ran before the gate.
    for number in range(TRIES):
        ran = tmp_path / f"ran-{number}"
        watcher = Watcher(census_words(seen_by, "/bin/mkdir", str(ran)), on_one_cpu)
        watcher.await_child()
        watcher.process.kill()
        begun = watcher.end().startswith(b'{"line": "begin"')
        assert watcher.left_nothing()
        assert begun or not ran.exists()


@pytest.mark.parametrize("how", ["ptrace", "tracepoints"])
def test_nothing_runs_on_without_its_tracer(how: str, tmp_path: Path) -> None:
    if how == "tracepoints" and not can_trace():
        pytest.skip("tracepoints may not be read here")
    for _ in range(TRIES):
        watcher = Watcher(tracer_words(how, "/bin/sleep", "31.5"), on_one_cpu)
        assert watcher.await_child()
        watcher.process.kill()
        watcher.end()
        assert watcher.left_nothing()


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_at_the_start_is_never_lost(seen_by: str, number: signal.Signals, terminal: Sender) -> None:
    for _ in range(ENDING[number]):
        watcher = Watcher(census_words(seen_by, "sleep", "32.5"), on_one_cpu)
        assert watcher.await_child()
        began_s = time.monotonic()
        terminal.send(watcher.pid, number)
        end = watcher.lines()[-1]
        assert time.monotonic() - began_s < 20
        assert (end["status"], end["interrupted"]) == ("ok", True)
        assert end["exit_status"] in (-1, 128 + number, 128 + signal.SIGTERM)
        assert watcher.left_nothing()


def test_an_interrupt_that_the_command_answers_ends_nothing(seen_by: str, tmp_path: Path, terminal: Sender) -> None:
    script = f"trap 'echo >>{tmp_path}/answered' INT; mkdir {tmp_path}/there; until [ -d {tmp_path}/go ]; do :; done"
    watcher = Watcher(census_words(seen_by, "bash", "-c", script))
    until((tmp_path / "there").exists)
    terminal.send(watcher.pid, signal.SIGINT)
    until((tmp_path / "answered").exists)
    (tmp_path / "go").mkdir()
    end = watcher.lines()[-1]
    assert (end["exit_status"], end["interrupted"]) == (0, False)


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_to_the_front_end_alone_ends_the_census(seen_by: str, number: signal.Signals, tmp_path: Path) -> None:
    script = f"mkdir {tmp_path}/there; while :; do sleep 0.02; done"
    words = [CLONOMETER, "census", "--how", seen_by, "--json", "--no-advice", "--", "bash", "-c", script]
    with subprocess.Popen(words, **PIPED) as census, ended_after(census):
        until((tmp_path / "there").exists)
        census.send_signal(number)
        answer = json.loads(census.communicate(timeout=60)[0])
    assert census.returncode == 130
    assert answer["interrupted"] is True
    assert answer["tasks_created"] >= 1
    assert gone(lambda: members(census.pid))


def test_an_interrupt_from_the_terminal_says_what_was_counted_until_then(seen_by: str) -> None:
    # Bash alone also goes on after an interrupt whose child at that moment ended by itself.
    script = "/bin/true; /bin/true; sleep 33.5"
    census_command = [CLONOMETER, "census", "--how", seen_by, "--json", "--no-advice", "--", "bash", "-c", script]
    with subprocess.Popen(census_command, **PIPED) as census, ended_after(census):
        until(lambda: any(words(pid)[:2] == ["sleep", "33.5"] for pid in members(census.pid)))
        os.killpg(census.pid, signal.SIGINT)
        answer = json.loads(census.communicate(timeout=60)[0])
    assert census.returncode == 130
    assert answer["interrupted"] is True
    assert answer["tasks_created"] >= 2


def test_a_stopped_reader_stops_nothing(seen_by: str, tmp_path: Path) -> None:
    """Neither the command, whose tasks fill the pipe many times, nor what outlives it."""
    made = 3000
    script = f"for i in $(seq {made}); do (:); done; mkdir {tmp_path}/done"
    words = [CLONOMETER, "census", "--how", seen_by, "--json", "--no-advice", "--no-stacks", "--"]
    gate = f"until [ -d {tmp_path}/go ]; do sleep 0.01; done;"
    with subprocess.Popen([*words, "bash", "-c", gate + script], **PIPED) as census, ended_after(census):
        until(lambda: len(members(census.pid)) > 2)
        census.send_signal(signal.SIGSTOP)
        (tmp_path / "go").mkdir()
        deadline_s = time.monotonic() + 120
        while not (tmp_path / "done").exists():
            assert time.monotonic() < deadline_s, "the command stands still while nobody reads"
            time.sleep(0.05)
        census.send_signal(signal.SIGCONT)
        answer = json.loads(census.communicate(timeout=60)[0])
    assert census.returncode == 0
    assert answer["tasks_created"] >= made
    assert answer["lost_events"] == 0


def test_what_a_census_leaves_behind_runs_on_while_nobody_reads_the_answer(seen_by: str, tmp_path: Path) -> None:
    """By ptrace each of its launches would wait for an answer that waits for a reader."""
    daemon = f"while [ ! -d {tmp_path}/over ]; do (:); date +%N >{tmp_path}/last; sleep 0.01; done"
    filler = "for i in $(seq 1500); do (:); done"
    script = f"setsid bash -c '{daemon}' >/dev/null 2>&1 & {filler}; mkdir {tmp_path}/done"
    watcher = Watcher(census_words(seen_by, "bash", "-c", script))
    try:
        until((tmp_path / "done").exists)
        # Nobody reads: it cannot have sent its last line.
        seen = set[str]()
        for _ in itertools.takewhile(lambda _: len(seen) < 20, range(3000)):
            seen.add((tmp_path / "last").read_text() if (tmp_path / "last").exists() else "")
            time.sleep(0.01)
        assert len(seen) == 20, "the daemon stands still"
        assert watcher.process.poll() is None
    finally:
        (tmp_path / "over").mkdir()
        answer = watcher.lines()
    assert answer[-1]["exit_status"] == 0


def test_job_control_of_a_shell_stops_and_continues_command_and_census(seen_by: str) -> None:
    ticking = "for i in $(seq 60); do echo tick$i; sleep 0.05; done"
    typed = f"{CLONOMETER} census --how {seen_by} --no-advice -- bash -c '{ticking}'\n"
    with Terminal() as terminal:
        terminal.type(typed)
        terminal.await_text("tick5\r")
        terminal.type("\x1a")
        terminal.await_text("Stopped")
        assert "tick" not in terminal.during(0.5)
        terminal.type("fg\n")
        terminal.await_text("tick60\r")
        terminal.await_text("bash created 61 tasks")
        terminal.type(typed)
        terminal.await_text("tick5\r")
        terminal.type("\x03")
        terminal.await_text("Interrupted before it ended")
        terminal.type("echo status $?\n")
        terminal.await_text("status 130\r")


class Terminal:
    """An interactive shell in a terminal of its own, and what it has shown since the last text that was awaited."""

    def __enter__(self) -> Terminal:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self._shown = ""
        return self

    def __exit__(self, *_: object) -> None:
        # The end of the terminal hangs up on all that runs in it.
        os.close(self._fd)
        os.waitpid(self._pid, 0)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def await_text(self, text: str) -> None:
        deadline_s = time.monotonic() + 60
        while text not in self._shown:
            assert time.monotonic() < deadline_s, f"{text!r} does not come: {self._shown[-2000:]}"
            self._shown += self._read(0.1)
        self._shown = self._shown.partition(text)[2]

    def during(self, seconds: float) -> str:
        """What is shown in so many seconds."""
        deadline_s = time.monotonic() + seconds
        shown = ""
        while time.monotonic() < deadline_s:
            shown += self._read(0.05)
        return shown

    def _read(self, seconds: float) -> str:
        ready = select.select([self._fd], [], [], seconds)[0]
        return os.read(self._fd, 1 << 16).decode(errors="replace") if ready else ""


def words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


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


def awaited_by(pid: int) -> int:
    """How many descriptors a process waits for; 0 where it does not wait."""
    number, *arguments = Path(f"/proc/{pid}/syscall").read_text().split()
    return int(arguments[1], 16) if number in ("7", "73" if platform.machine() == "aarch64" else "271") else 0


@pytest.mark.skipif(not can_trace(), reason="tracepoints may not be read here")
@pytest.mark.skipif(not Path("/proc/self/syscall").exists(), reason="this kernel does not tell what a task waits for")
def test_it_awaits_the_end_of_its_command_beside_the_records_of_each_cpu() -> None:
    """Else it would look for it a tenth of a second later."""
    watcher = Watcher(census_words("tracepoints", "/bin/sleep", "30"))
    try:
        rings = os.cpu_count() or 1
        # Where calls are told apart each CPU has another ring for them.
        assert happens(lambda: awaited_by(watcher.pid) in (rings + 1, 2 * rings + 1))
    finally:
        os.killpg(watcher.pid, signal.SIGKILL)
        watcher.end()
    assert watcher.left_nothing()


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
