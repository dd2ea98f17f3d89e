"""The census of real programs: counts that must hold, statuses passed on, and nothing that stays."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.integration.census import CLONOMETER, can_trace, ended_after, run, taken, until, watched
from tests.integration.leftovers import Trace, gone, tasks
from tests.integration.started import members

pytestmark = pytest.mark.real

THREADS_AND_CHILDREN = """
import subprocess, threading
for _ in range(5):
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
for _ in range(3):
    subprocess.run(["true"], check=True)
"""


def test_threads_and_children_are_counted_by_mechanism(seen_by: str) -> None:
    answer = taken(sys.executable, "-c", THREADS_AND_CHILDREN, how=seen_by)
    counts: Counter[str] = Counter()
    for creator in answer["creators"]:
        counts[creator["mechanism"]] += creator["created"]
    assert counts["thread"] == 5
    assert answer["tasks_created"] == 8
    assert sum(creator["execed"] for creator in answer["creators"]) == 3
    assert answer["still_running"] == 0
    assert answer["lost_events"] == 0


# What Go's os/exec asks for, on its creator's stack, and then what the C library does; the child must not return.
SPAWNS = r"""
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline __attribute__((always_inline)) long call(long number, long one, long two, long three) {
#ifdef __x86_64__
    long result;
    register long four __asm__("r10") = 0;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(one), "S"(two), "d"(three), "r"(four)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = one;
    register long x1 __asm__("x1") = two;
    register long x2 __asm__("x2") = three;
    register long x3 __asm__("x3") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#endif
}

int main(void) {
    char *words[] = {"true", 0};
    pid_t pid;
    if (call(SYS_clone, 0x4100 | SIGCHLD, 0, 0) == 0) { /* CLONE_VM, CLONE_VFORK */
        call(SYS_execve, (long)"/bin/true", (long)words, (long)environ);
        call(SYS_exit, 127, 0, 0);
    }
    posix_spawn(&pid, "/bin/true", 0, 0, words, environ);
    while (wait(0) > 0) {
    }
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="takes a C compiler to make the call that Go makes")
def test_a_call_like_gos_is_not_taken_for_the_librarys(seen_by: str, tmp_path: Path) -> None:
    (tmp_path / "spawns.c").write_text(SPAWNS)
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-o", "spawns", "spawns.c"], cwd=tmp_path, check=True, timeout=60)
    (tmp_path / "another-name").symlink_to("spawns")
    answer = taken(str(tmp_path / "another-name"), how=seen_by)
    made = {creator["mechanism"]: (creator["created"], Path(creator["program"]).name) for creator in answer["creators"]}
    assert made == {"clone(VM|VFORK)": (1, "another-name"), "posix_spawn": (1, "another-name")}


def test_times_are_in_order_where_the_kernel_tells_them() -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    answer = taken("sh", "-c", "true; /bin/true; (exit 0) & wait")
    assert answer["tasks_created"] == 2
    for creator in answer["creators"]:
        assert creator["created"] == 1
        assert creator["runs_median_ns"] > 0
        assert 0 < creator["making_median_ns"] <= creator["call_median_ns"] <= answer["wall_ns"]
        assert 0 < creator["life_median_ns"] <= answer["wall_ns"]
        making_and_exec = creator["making_median_ns"] + (creator["exec_median_ns"] or 0)
        assert creator["making_median_ns"] <= creator["cost_ns"] <= making_and_exec
        if creator["cpu_wait_ns"] is not None:
            assert creator["making_median_ns"] + creator["cpu_wait_ns"] == creator["call_median_ns"]
    assert 0 < answer["creating_ns"] <= answer["wall_ns"]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: apt-get install strace")
def test_as_many_tasks_as_strace_counts_calls(tmp_path: Path) -> None:
    script = "for i in 1 2 3; do (sleep 0.01 | cat) ; done; nothing-like-this 2>/dev/null; date >/dev/null & wait"
    log = tmp_path / "strace.log"
    subprocess.run(
        ["strace", "-f", "-e", "trace=clone,clone3,fork,vfork", "-o", str(log), "sh", "-c", script],
        check=True,
        timeout=60,
        capture_output=True,
    )
    calls = r"(?:clone3?|v?fork)"
    made = re.findall(rf"(?:{calls}\(.*\)|<\.\.\. {calls} resumed>.*\))\s+= [1-9]", log.read_text())
    assert len(made) > 6
    assert taken("sh", "-c", script)["tasks_created"] == len(made)


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_status_is_passed_on(seen_by: str, script: str, status: int) -> None:
    ended = run("--how", seen_by, "--", "sh", "-c", script)
    assert ended.returncode == status
    assert "created 0 tasks" in ended.stdout


def test_what_cannot_be_run_is_said_as_env_says_it(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    missing = run("--", "no-such-command")
    assert (missing.returncode, missing.stdout) == (127, "")
    assert "no-such-command" in missing.stderr
    refused = run("--", str(plain))
    assert refused.returncode == 126
    assert "not executable" in refused.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "needs a command, --pid, --service or --all"),
        (["--pid", "1", "--", "true"], "only one of them"),
        (["--pid", "4194303"], "there is no process 4194303"),
        (["--for", "soon", "--", "true"], "'soon' is not a time"),
        (["--buffer", "much", "--", "true"], "much"),
    ],
)
def test_bad_words_are_refused_before_anything_starts(words: list[str], complaint: str) -> None:
    ended = run(*words)
    assert ended.returncode == 2
    assert complaint in " ".join(ended.stderr.split())


def test_the_command_keeps_its_input_and_output() -> None:
    ended = run("--json", "--", "cat", input="what it read\n")
    assert json.loads(ended.stdout)["exit_status"] == 0
    assert "what it read" in ended.stderr
    assert run("--", "cat", input="what it read\n").stdout.startswith("what it read\n")


def test_a_process_that_runs_is_watched_with_what_it_has_already() -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    # Its work is done by a shell below it, which is there before the census and works when it is told to.
    script = "sh -c 'echo there; read go; for i in 1 2 3; do /bin/true; done; echo done; sleep 30' ; true"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(["sh", "-c", script], start_new_session=True, **pipes) as process:
        try:
            assert process.stdout.readline() == "there\n"
            answer = watched(process.pid, attached, lambda: works(process))
            assert answer["tasks_created"] == 4, "three programs and the sleep"
            assert answer["creators"][0]["program"].startswith("/")
            assert process.poll() is None, "a census of a process leaves it alone"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def works(process: subprocess.Popen[str]) -> None:
    """Let the script go on, until it sleeps."""
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"
    until(lambda: b"sleep" in names(process.pid))


def names(session: int) -> set[bytes]:
    traced = set()
    for pid in members(session):
        with contextlib.suppress(OSError):
            traced.add(Path(f"/proc/{pid}/comm").read_bytes().strip())
    return traced


def attached(session: int) -> bool:
    """Whether a census listens: it has opened all that it listens to, and waits for it."""
    return any(perf_events(pid) > 0 and polls(pid) for pid in members(session))


def polls(pid: int) -> bool:
    """Whether a process is in poll or ppoll, as x86-64 and arm64 number them."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("7", "271", "73")
    return False


def perf_events(pid: int) -> int:
    """How many descriptors of perf events a process has."""
    count = 0
    # Processes end while they are looked at.
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                count += "perf_event" in str(entry.readlink())
    return count


def test_nothing_stays_attached_when_it_is_killed(tmp_path: Path) -> None:
    traces, trace = can_trace(), Trace(uuid4().hex, tmp_path)
    words = [CLONOMETER, "census", "--", "sleep", "30"]
    environ = {**os.environ, **trace.environ}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True, env=environ) as census:
        try:
            until(lambda: attached(census.pid) if traces else b"sleep" in names(census.pid))
        finally:
            os.killpg(census.pid, signal.SIGKILL)
    # Whoever held an event is gone, and the event with it.
    assert gone(lambda: tasks(trace)), tasks(trace)


def test_an_ordinary_user_gets_what_ptrace_tells(public: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("takes root to become an ordinary user")
    from clonometer.runner.census import NAME
    from clonometer.runner.drivers import bin_folder

    tool = public / NAME
    shutil.copy(bin_folder() / NAME, tool)
    paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if paranoid < 0:
        pytest.skip("everybody may read tracepoints here")
    ended = subprocess.run(
        [tool, "--fd", "1", "--", "sh", "-c", "/bin/true; exit 5"],
        stdout=subprocess.PIPE,
        text=True,
        user=65534,
        group=65534,
        extra_groups=[],
        timeout=60,
        check=True,
        cwd="/",
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert lines[0]["how"] == "ptrace"
    assert lines[0]["without"], "it says why"
    assert (lines[-1]["tasks_created"], lines[-1]["exit_status"]) == (1, 5)


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to become an ordinary user")
def test_a_process_of_somebody_else_is_refused_with_the_reason(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    from clonometer.runner.census import NAME
    from clonometer.runner.drivers import bin_folder

    tool = tmp_path / NAME
    shutil.copy(bin_folder() / NAME, tool)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 0:
        pytest.skip("everybody may read tracepoints here")
    ended = subprocess.run(
        [tool, "--fd", "1", f"pid={os.getpid()}", "seconds=1"],
        stdout=subprocess.PIPE, text=True, user=65534, group=65534, extra_groups=[], timeout=60, check=True, cwd="/",
    )  # fmt: skip
    end = json.loads(ended.stdout.splitlines()[-1])
    assert end["status"] == "refused"
    assert len(end["reason"]) > 20
    assert end["tasks_created"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to make a PID namespace")
def test_a_process_in_another_pid_namespace_is_watched_by_its_number_here() -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    script = "read go; for i in 1 2 3; do /bin/true; done; echo done; sleep 30; true"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", script], **pipes) as process:
        try:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            until(lambda: bool(children.read_text()))
            [inside] = children.read_text().split()
            assert Path(f"/proc/{inside}/status").read_text().split("NSpid:")[1].split()[1] == "1"
            answer = watched(inside, attached, lambda: works(process))
            assert answer["tasks_created"] == 4, "three programs and the sleep"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


STORM_THEN_CALM = """
storm() { i=0; while [ $i -lt $1 ]; do (exit 0); i=$((i+1)); done; }
touch begun; while [ ! -e go ]; do read -t 0.05 nothing <>wait; done
storm 1000; touch stormed
while [ ! -e on ]; do read -t 0.05 nothing <>wait; done
storm 50
"""


def grows_no_more(census: int) -> bool:
    """Whether no thread makes its buffers larger, nor has another one open after a while."""
    threads, events = len(os.listdir(f"/proc/{census}/task")), perf_events(census)
    time.sleep(0.5)
    return (threads, events) == (1, perf_events(census))


def test_events_without_room_are_counted_and_said_and_the_room_grows(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    os.mkfifo(tmp_path / "wait")
    # On one processor: each has a buffer, and that of another would not have been made larger.
    storm = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0))), "bash", "-c", STORM_THEN_CALM]
    words = [CLONOMETER, "census", "--buffer", "4KiB", "--out", "census.json", "--", *storm]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=tmp_path, start_new_session=True, **pipes) as process, ended_after(process):
        until((tmp_path / "begun").exists)
        [census] = [pid for pid in members(process.pid) if perf_events(pid) > 0]
        # It does not read while a thousand tasks are made, for which a page has no room.
        os.kill(census, signal.SIGSTOP)
        before = perf_events(census)
        (tmp_path / "go").touch()
        until((tmp_path / "stormed").exists)
        os.kill(census, signal.SIGCONT)
        until(lambda: perf_events(census) > before)
        until(lambda: grows_no_more(census))
        (tmp_path / "on").touch()
        table, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    answer = json.loads((tmp_path / "census.json").read_text())
    assert answer["lost_events"] > 1000
    assert 50 <= answer["tasks_created"] < 1000
    assert answer["buffer_grown"] >= 1
    assert answer["buffer_bytes"] >= 32768
    sentences = " ".join(table.split())
    assert f"{answer['lost_events']:,} events were lost because the buffer was full: tasks may be missing" in sentences
    assert "The buffer was enlarged during the census" in sentences


@pytest.mark.parametrize(
    ("text", "status", "complaint"),
    [("#!/no/such/interpreter\n", 127, "the interpreter"), ("#!/\n", 126, "Permission denied")],
)
def test_what_the_kernel_refuses_to_execute_is_no_empty_census(
    seen_by: str, tmp_path: Path, text: str, status: int, complaint: str
) -> None:
    script = tmp_path / "script"
    script.write_text(text)
    script.chmod(0o755)
    ended = run("--how", seen_by, "--", str(script))
    assert (ended.returncode, ended.stdout) == (status, "")
    assert f"cannot execute {script}" in ended.stderr
    assert complaint in ended.stderr


def test_a_file_along_the_path_that_may_not_be_executed_is_told_from_none(tmp_path: Path) -> None:
    (tmp_path / "plain-file").write_text("no program")
    ended = run("--", "plain-file", env={**os.environ, "PATH": str(tmp_path)})
    assert ended.returncode == 126
    assert "not executable" in ended.stderr


def test_a_low_limit_of_open_files_is_raised_for_listening_and_not_for_the_command(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    limit = tmp_path / "limit"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    ended = run(
        "--json", "--", "sh", "-c", f"ulimit -Sn > {limit}; (exit 0)",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, hard)),
    )  # fmt: skip
    answer = json.loads(ended.stdout)
    assert (answer["how"], answer["tasks_created"]) == ("tracepoints", 1)
    assert limit.read_text() == "16\n"


SCRIPT = "sh -c '/bin/true; (exit 3)'; (sleep 0.01; :) & wait"


def test_a_program_has_tracks_on_the_page_and_in_the_trace(seen_by: str, tmp_path: Path) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    ended = run("--how", seen_by, "--html", str(page), "--perfetto", str(trace), "--", "sh", "-c", SCRIPT)
    assert ended.returncode == 0, ended.stderr
    text = page.read_text()
    assert "Tasks over time" in text
    assert text.count("<li style=") == 5
    events = json.loads(trace.read_text())["traceEvents"]
    lives = {event["name"]: event for event in events if event["ph"] == "X" and event["cat"] == "life"}
    assert {"true", "sleep", "sh", "copy of sh"} <= set(lives)
    for event in events:
        assert event.get("dur", 0) >= 0
        assert event["ts"] >= 0
    inner, outer = lives["true"], lives["sh"]
    assert outer["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    calls = [event for event in events if event["ph"] == "X" and event["cat"] == "call"]
    assert (len(calls) == 5) == (seen_by == "tracepoints"), "ptrace sees no times of calls"


def test_an_existing_trace_is_not_replaced(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text("mine")
    assert run("--perfetto", str(trace), "--", "true").returncode == 2
    assert trace.read_text() == "mine"
