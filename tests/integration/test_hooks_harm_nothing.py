"""Hooks keep nothing of what a program raises, leave nothing behind, and neither believe nor obey strangers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.census import CLONOMETER, run, until

from clonometer.runner.hooks import VARIABLE, hooks_set

pytestmark = pytest.mark.real
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
_NOBODY = 65534

#: A handler of a signal that raises, as programs end what takes too long, while the program launches in a loop. The
#: last line says how many never arrived.
TIMEOUTS = {
    "python": """\
import os, random, signal, time
class Timeout(Exception): pass
def handler(*_): raise Timeout
signal.signal(signal.SIGALRM, handler)
lost, draw = 0, random.Random(1)
for _ in range(250):
    try:
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.0005, 0.003))
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            try: os.posix_spawn("/nonexistent", ["x"], {})
            except FileNotFoundError: pass
        lost += 1
    except Timeout: pass
    signal.setitimer(signal.ITIMER_REAL, 0)
print("lost", lost)
""",
    "perl": """\
use Time::HiRes qw(ualarm time);
$SIG{ALRM} = sub { die "timeout\\n" };
for (1 .. 100) {
    eval {
        ualarm(500 + rand(2500));
        my $end = time + 0.1;
        while (time < $end) { my $child = fork(); if (!$child) { require POSIX; POSIX::_exit(0) } waitpid $child, 0 }
        $lost++;
    };
    ualarm(0);
}
print "lost ", $lost // 0, "\\n";
""",
    "php": """\
<?php
pcntl_async_signals(true);
class Timeout extends Exception {}
pcntl_signal(SIGALRM, function () { throw new Timeout(); });
pcntl_signal(SIGCHLD, SIG_IGN);
$lost = 0;
for ($i = 0; $i < 60; $i++) {
    $parent = getmypid();
    // A process that sends it: an alarm of PHP has whole seconds.
    shell_exec("(sleep 0.00" . ($i % 4) . "; kill -ALRM $parent) >/dev/null 2>&1 &");
    try {
        $end = microtime(true) + 1;
        while (microtime(true) < $end) { exec("true"); }
        $lost++;
    } catch (Timeout) {}
}
echo "lost $lost\\n";
""",
    "ruby": """\
require 'timeout'
class Late < StandardError; end
lost = 0
250.times do
  begin
    Timeout.timeout(0.0005 + rand * 0.0025, Late) do
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.1
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
        begin; Process.spawn('/nonexistent'); rescue Errno::ENOENT; end
      end
      lost += 1
    end
  rescue Late
  end
end
puts "lost #{lost}"
""",
}


def timeouts_lost(name: str, script: Path) -> tuple[int, int]:
    """How many of its timeouts a program loses: by itself, and under a census."""
    program = sys.executable if name == "python" else shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    script.write_text(TIMEOUTS[name])
    bare = subprocess.run([program, script], capture_output=True, text=True, check=True, timeout=200)
    seen = run("--json", "--", program, str(script))
    assert seen.returncode == 0, seen.stderr
    by_itself, under_census = (int(text.split("lost ")[1]) for text in (bare.stdout, seen.stderr))
    return by_itself, under_census


# Ruby loses some of its own: that is compared where nobody is at work beside it (tests/integration/alone).
@pytest.mark.parametrize("name", [name for name in TIMEOUTS if name != "ruby"])
def test_no_timeout_of_a_program_is_lost(name: str, tmp_path: Path) -> None:
    by_itself, under_census = timeouts_lost(name, tmp_path / "timeouts")
    assert under_census <= by_itself


def as_nobody(work: Callable[[], None]) -> int:
    """A process of another user that works."""
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            work()
        finally:
            os._exit(0)
    return child


@contextmanager
def hooked_bash(script: str, **changed: str) -> Iterator[subprocess.Popen[str]]:
    """A shell that has the hooks of a census which has ended."""
    with hooks_set(wanted=True) as hooks:
        environment = {**hooks.environment(os.environ), **changed}
    words = ["bash", "-c", script]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as shell:
        try:
            yield shell
        finally:
            shell.kill()


def name_in(environ: bytes) -> str:
    (variable,) = (each for each in environ.split(b"\0") if each.startswith(VARIABLE.encode()))
    return "\0" + variable.decode().partition("=")[2].split(":")[0]


@needs_root
def test_another_user_who_takes_the_name_afterwards_hears_nothing_and_stops_nothing() -> None:
    with hooked_bash("read; for i in 1 2 3; do /bin/true; done; echo done") as shell:
        until(lambda: VARIABLE.encode() in Path(f"/proc/{shell.pid}/environ").read_bytes())
        name = name_in(Path(f"/proc/{shell.pid}/environ").read_bytes())
        hearing, saying = os.pipe()

        def squat() -> None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as squatter:
                squatter.bind(name)
                squatter.listen(8)
                os.write(saying, b"ready\n")
                for _ in range(3):
                    connection, _ = squatter.accept()
                    os.write(saying, connection.recv(8192) + b".\n")

        stranger = as_nobody(squat)
        assert os.read(hearing, 100) == b"ready\n"
        assert shell.communicate("\n", timeout=60)[0] == "done\n"
        assert os.waitpid(stranger, 0)[1] == 0
        assert os.read(hearing, 100) == b".\n.\n.\n"


def test_a_listener_that_is_full_stops_nobody() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as full:
        full.bind("\0clonometer-test-full")
        full.listen(1)
        address = f"clonometer-test-full:{'0' * 32}:{os.geteuid()}:0"
        with hooked_bash("for i in {1..20}; do /bin/true; done; echo done", **{VARIABLE: address}) as shell:
            assert shell.communicate(timeout=60)[0] == "done\n"


def test_the_end_of_a_census_leaves_nothing(tmp_path: Path) -> None:
    """Also a sudden one: nothing was made that somebody would have to take away."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    script = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    words = [CLONOMETER, "census", "--", sys.executable, "-c", script]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True) as census:
        assert census.stdout is not None
        program = int(census.stdout.readline())
        try:
            assert list(tmp_path.iterdir()) == []
            census.kill()
            census.wait()
            assert list(tmp_path.iterdir()) == []
        finally:
            os.kill(program, signal.SIGKILL)


FORGES = """\
import os, socket, sys, time
name, secret, *_ = os.environ["CLONOMETER_CALLS"].split(":")
def send(text):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect("\\0" + name)
        connection.send(text)
frame = "Pattacker\\x1fFORGED\\x1f/etc/shadow\\x1f1"
for word in (secret, "0" * 32):
    for thread in sys.argv[1:]:
        send(f"{word}0python\\t{time.monotonic_ns()}\\t{thread}\\tprocess\\tos.fork\\t{frame}".encode())
"""


def test_a_line_for_another_process_counts_nothing(tmp_path: Path) -> None:
    """Who knows the secret, since it was started with it, still speaks for itself alone."""
    script = tmp_path / "forges.py"
    script.write_text(FORGES)
    # dash has no hook: a line that were believed would be its only one.
    ended = run(
        "--json", "--", "dash", "-c", f"{sys.executable} {script} $$; /bin/true; {sys.executable} {script} $$; ls /"
    )
    answer = json.loads(ended.stdout)
    assert "FORGED" not in json.dumps(answer["sites"])
    assert answer["tasks_created"] == 4


@needs_root
def test_strangers_who_connect_keep_nobody_waiting_and_are_not_heard() -> None:
    """They find the name, which is no secret, and connect as fast as they can, with a word that means nothing."""
    script = "import os, sys\nprint(os.getpid(), flush=True)\nfor _ in range(200): os.system('true')\n"
    words = [CLONOMETER, "census", "--json", "--", sys.executable, "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as census:
        assert census.stderr is not None
        name = name_in(Path(f"/proc/{int(census.stderr.readline())}/environ").read_bytes())

        def disturb() -> None:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK) as connection:
                    try:
                        connection.connect(name)
                        connection.send(b"0" * 4000)
                    except BlockingIOError:
                        continue
                    except OSError:
                        return

        stranger = as_nobody(disturb)
        answer = json.loads(census.communicate(timeout=200)[0])
    assert os.waitpid(stranger, 0)[1] == 0
    assert answer["tasks_created"] == 200
    assert {site["where"]["file"] for site in answer["sites"] if site["language"] is not None} <= {"<string>"}
