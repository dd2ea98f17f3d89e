"""Real programs that fork when they are told to, each by its own means, and the kernel's time of each fork's call."""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clonometer.errors import ClonometerError
from clonometer.runner.census import take_census

MOST_WAIT_S = 120.0
#: A time of fork's call by the program itself, in ns; None where it gives none.
Fork = Callable[[], float | None]
Started = AbstractContextManager[tuple[int, Fork]]

PYTHON = """
import os, sys
kept = {content}
print(os.getpid(), flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print("forked", flush=True)
"""
#: As many areas as Linux allows by default, but for some (vm.max_map_count).
MANY_AREAS = """
import ctypes, mmap, os, sys
pages = 64800
kept = mmap.mmap(-1, pages * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, pages * 4096, 4096):
    kept[at] = 1
address = ctypes.addressof(ctypes.c_char.from_buffer(kept))
for at in range(0, pages, 2):
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + at * 4096), 4096, 1)
print(os.getpid(), flush=True)
sys.stdin.read()
"""
PERL = """
use POSIX (); $| = 1; my %kept; $kept{"key$_"} = "value$_" for 1 .. 1500000; print "$$\\n";
while (<STDIN>) { my $pid = fork(); POSIX::_exit(0) if $pid == 0; waitpid($pid, 0); print "forked\\n"; }
"""
RUBY = """
$stdout.sync = true; kept = {}; 2_000_000.times { |i| kept["key#{i}"] = "value#{i}" }; puts $$
while STDIN.gets; pid = fork { exit!(0) }; Process.wait(pid); puts "forked"; end
"""
NODE = """
const { spawn } = require('child_process'), kept = [];
for (let i = 0; i < 8e6; i++) kept.push({ key: i });
console.log(process.pid);
require('readline').createInterface({ input: process.stdin }).on('line', () =>
    spawn('true').on('exit', () => console.log('forked', kept.length)));
"""
JAVA = """
import java.io.*;
class Forker {
    public static void main(String[] words) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println(ProcessHandle.current().pid());
        while (lines.readLine() != null) { Runtime.getRuntime().exec("true").waitFor(); System.out.println("forked"); }
    }
}
"""
JAVA_OPTIONS = (
    "-Djdk.lang.Process.launchMechanism=FORK",
    "-XX:+UseSerialGC",
    "-Xms2g",
    "-Xmx2g",
    "-XX:+AlwaysPreTouch",
)
#: So many bytes an entry of DEBUG POPULATE takes with values of 1,000.
ENTRY_BYTES = 1100
HUGE_PAGES = Path("/proc/sys/vm/nr_hugepages")
SHARED_GB = 4


@dataclass(frozen=True)
class Program:
    """A program, what must be installed for it, and how it is started."""

    name: str
    needs: tuple[str, ...]
    start: Callable[[], Started]

    def lack(self) -> str | None:
        """Name what is not installed."""
        return next((f"{word} is not installed" for word in self.needs if shutil.which(word) is None), None)


class LeftOutError(Exception):
    """A program cannot run on this machine; the message says why."""


class KernelTimes:
    """The kernel's time of each fork's call, by the tracepoints of `clonometer census`: for all programs alike."""

    def __init__(self, pid: int) -> None:
        self._calls: queue.Queue[float] = queue.Queue()
        self._began = threading.Event()
        self._refused: list[str] = []
        threading.Thread(target=self._watch, args=(pid,), daemon=True).start()
        if not self._began.wait(MOST_WAIT_S) or self._refused:
            raise LeftOutError(f"its calls cannot be timed: {''.join(self._refused)}")

    def _watch(self, pid: int) -> None:
        try:
            take_census(self._receive, pid=pid, how="tracepoints")
        except ClonometerError as error:
            self._refused.append(error.message)
        self._began.set()

    def _receive(self, line: dict[str, Any]) -> None:
        if line["line"] == "begin":
            self._began.set()
        # What shares memory with its creator is a thread, or was made by vfork.
        elif line["line"] == "task" and "CLONE_VM" not in line["flag_names"]:
            self._calls.put(float(line["call_ns"]))

    def next_ns(self) -> float:
        """Wait for the next child's end, and say how long the call took that made it."""
        return self._calls.get(timeout=MOST_WAIT_S)


@contextmanager
def script(*words: str, cwd: str | None = None) -> Iterator[tuple[int, Fork]]:
    """Start a program that says its number, then forks whenever a line comes and waits for the child."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def fork() -> None:
            asked.write("fork\n")
            asked.flush()
            answers.readline()

        try:
            yield int(answers.readline()), fork
        finally:
            process.kill()


@contextmanager
def java() -> Iterator[tuple[int, Fork]]:
    """Start a JVM with a heap of 2 GB, all of it touched, that forks rather than asking its helper to spawn."""
    with tempfile.TemporaryDirectory(prefix="clonometer-bench-") as folder:
        Path(folder, "Forker.java").write_text(JAVA, encoding="utf-8")
        subprocess.run(["javac", "Forker.java"], cwd=folder, check=True)
        with script("java", *JAVA_OPTIONS, "Forker", cwd=folder) as started:
            yield started


@contextmanager
def redis(server: str, gigabytes: float) -> Iterator[tuple[int, Fork]]:
    """Start a Redis or a Valkey of that size on a socket of its own; it forks to save, and says how long that took."""
    with tempfile.TemporaryDirectory(prefix="clonometer-bench-") as folder:
        socket = str(Path(folder) / "socket")
        words = [server, "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", ""]

        def ask(*asked: str) -> str:
            answer = subprocess.run(["redis-cli", "-s", socket, *asked], capture_output=True, text=True, check=False)
            return answer.stdout

        def fork() -> float:
            ask("BGSAVE")
            while "rdb_bgsave_in_progress:1" in ask("INFO", "persistence"):
                time.sleep(0.05)
            (microseconds,) = re.findall(r"latest_fork_usec:(\d+)", ask("INFO", "stats"))
            return 1000 * float(microseconds)

        with subprocess.Popen([*words, "--enable-debug-command", "yes"], stdout=subprocess.DEVNULL) as process:
            try:
                while "PONG" not in ask("PING") and process.poll() is None:
                    time.sleep(0.05)
                ask("DEBUG", "POPULATE", str(int(gigabytes * 1e9 / ENTRY_BYTES)), "key", "1000")
                yield process.pid, fork
            finally:
                process.kill()


@contextmanager
def postgres(*, huge_pages: bool) -> Iterator[tuple[int, Fork]]:
    """Start PostgreSQL with large shared buffers: its postmaster forks for each connection."""
    postgres_program = shutil.which("postgres")
    if postgres_program is None:
        raise FileNotFoundError("postgres")
    programs = Path(os.path.realpath(postgres_program)).parent
    user = "postgres" if os.geteuid() == 0 else None
    words = [f"shared_buffers={SHARED_GB}GB", f"huge_pages={'on' if huge_pages else 'off'}", "autovacuum=off"]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="clonometer-bench-"))
        if user is not None:
            shutil.chown(folder, user)
        if huge_pages:
            # Beside the buffers it has other shared memory, about a tenth of them.
            stack.enter_context(reserved_huge_pages(int(SHARED_GB * 512 * 1.1)))
        data = str(Path(folder) / "data")
        initdb = [str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, user=user, cwd=folder)
        options = [
            part for word in (*words, "listen_addresses=", f"unix_socket_directories={folder}") for part in ("-c", word)
        ]
        log = stack.enter_context(Path(folder, "log").open("wb"))
        server = stack.enter_context(
            subprocess.Popen([str(programs / "postgres"), "-D", data, *options], stderr=log, user=user, cwd=folder)
        )
        stack.callback(server.terminate)

        def fork() -> None:
            subprocess.run(["psql", "-h", folder, "-U", "postgres", "-qc", ""], check=True)

        is_ready = [str(programs / "pg_isready"), "-q", "-h", folder]
        while subprocess.run(is_ready, check=False).returncode != 0:
            if server.poll() is not None:
                raise LeftOutError(Path(folder, "log").read_text(encoding="utf-8", errors="replace")[-300:])
            time.sleep(0.1)
        # Its helpers have been forked by then.
        time.sleep(1.0)
        yield server.pid, fork


@contextmanager
def reserved_huge_pages(count: int) -> Iterator[None]:
    """Reserve pages of hugetlbfs, and give them back."""
    before = HUGE_PAGES.read_text(encoding="utf-8")
    try:
        with suppress(PermissionError):
            HUGE_PAGES.write_text(str(int(before) + count), encoding="utf-8")
        if int(HUGE_PAGES.read_text(encoding="utf-8")) < int(before) + count:
            raise LeftOutError(f"{count} huge pages cannot be reserved")
        yield
    finally:
        with suppress(PermissionError):
            HUGE_PAGES.write_text(before, encoding="utf-8")


def servers(server: str, sizes: tuple[float, ...]) -> list[Program]:
    """Redis or Valkey, in sizes from small to large."""
    return [
        Program(f"{server.removesuffix('-server')} {size:g} GB", (server, "redis-cli"), partial(redis, server, size))
        for size in sizes
    ]


PROGRAMS = (
    Program("python small objects", ("python3",),
            partial(script, "python3", "-c", PYTHON.format(content="[[i] for i in range(2500000)]"))),
    Program("python one array", ("python3",),
            partial(script, "python3", "-c", PYTHON.format(content="bytearray(500 << 20)"))),
    Program("perl hash", ("perl",), partial(script, "perl", "-e", PERL)),
    Program("ruby hash", ("ruby",), partial(script, "ruby", "-e", RUBY)),
    Program("node array", ("node",), partial(script, "node", "-e", NODE)),
    Program("java 2 GB touched", ("java", "javac"), java),
    Program("postgres small pages", ("postgres", "psql"), partial(postgres, huge_pages=False)),
    Program("postgres huge pages", ("postgres", "psql"), partial(postgres, huge_pages=True)),
    *servers("redis-server", (0.1, 0.25, 1.0, 2.5, 6.0)),
    *servers("valkey-server", (0.1, 0.25, 1.0, 2.5, 6.0)),
)  # fmt: skip
