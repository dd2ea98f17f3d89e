"""Numbers: builds and censuses in one job where process ids are few, so that a number soon stands for another process.

    python -m tools.torture.numbers SECONDS

does so in a PID namespace of its own and prints what it saw: every SIGTERM and SIGKILL that a census sent, by the
kernel's tracepoint signal:signal_generate. None may reach a process of the builds. Only root can.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.integration import container
from tests.integration.watchers import census_words
from tools.torture.sandbox import COMMAND, NotPossibleError, Sandbox, judge
from tools.torture.trials import Trial

KIND = "numbers"
SECONDS, _NOT_POSSIBLE = 20.0, 77
_ROOT = Path(__file__).parents[2]
_NEW_PROCESS_IDS = 0x20000000
# The fewest that a kernel lets be set is 301.
_MOST_PROCESS_IDS = 600
_BUILDS = 3
# A program of the builds has a name that begins so, whatever it executes.
_BUILDS_NAME = "stranger"
_BUILD = f"while :; do ./{_BUILDS_NAME}-waits 0.2 & ./{_BUILDS_NAME}-waits 0.01; done"
# More at once than a page of events has room for: the census takes some of them for living, though they have ended.
_STORM = "for i in $(seq 200); do /bin/true & done; while :; do (:); sleep 0.01; done"
_SENT = re.compile(rb"^\s*(.{1,16})-\d+\s.*signal_generate: sig=(\d+) .* comm=(.+?) pid=\d+")


def trials(order: random.Random) -> Iterator[Trial]:
    """The same again and again, since luck has a part in it."""
    for turn in itertools.count():
        yield Trial(KIND, f"one job/{turn}", _try)


def _try(sandbox: Sandbox, draw: random.Random) -> list[str]:
    if os.geteuid() != 0:
        raise NotPossibleError("only root has process ids of its own and sees all signals")
    ended = sandbox.run(
        str(SECONDS),
        command=(sys.executable, "-m", "tools.torture.numbers"),
        environment={"PYTHONPATH": str(_ROOT)},
    )
    if ended.status == _NOT_POSSIBLE:
        raise NotPossibleError(ended.err.strip()[-200:])
    faults = judge(ended, {0})
    if not faults:
        seen = json.loads(ended.out)
        faults = [f"signals to strangers: {seen}"] if seen["foreign"] or not seen["kin"] or not seen["lost"] else []
    return [*faults, *sandbox.leftovers()]


class _Signals:
    """What the kernel says of signals that are sent."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        container.mount("tracefs", str(folder), "tracefs", "")
        self._folder = folder / "instances" / f"torture-{os.getpid()}-{time.monotonic_ns()}"
        self._folder.mkdir()
        event = self._folder / "events/signal/signal_generate"
        (event / "filter").write_text(f"sig == {signal.SIGTERM:d} || sig == {signal.SIGKILL:d}")
        (event / "enable").write_text("1")
        self._pipe = os.open(self._folder / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        self._rest = b""
        self.seen = Counter[str]()

    def read(self) -> None:
        """Take in what has been sent since."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._pipe, 1 << 16):
                *lines, self._rest = (self._rest + data).split(b"\n")
                for line in lines:
                    match = _SENT.match(line)
                    if match is not None and match[1].startswith(b"clonometer-"):
                        self.seen["foreign" if match[3].startswith(_BUILDS_NAME.encode()) else "kin"] += 1

    def end(self) -> None:
        """Have the kernel tell no more."""
        os.close(self._pipe)
        (self._folder / "events/signal/signal_generate/enable").write_text("0")
        self._folder.rmdir()


def _take_census(signals: _Signals) -> int:
    """End a storm of tasks after some time; how many events had no room."""
    reading, writing = os.pipe()
    words = census_words("tracepoints", "/bin/sh", "-c", _STORM)
    words[words.index("{fd}")] = str(writing)
    words[words.index("--") : words.index("--")] = ["seconds=1.5", "ring_bytes=4096", "stacks=no", "calls=no"]
    child = subprocess.Popen(words, pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.close(writing)
    answer = b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while True:
            if select.select([pipe], [], [], 0.05)[0]:
                piece = pipe.read(1 << 16)
                if not piece:
                    break
                answer = (answer + piece)[-(1 << 14) :]
            signals.read()
    child.wait()
    return int(json.loads(answer.splitlines()[-1])["lost"])


def _work(seconds: float) -> None:
    """Be the first process of a namespace."""
    os.setsid()
    container.mount("proc", "/proc", "proc", "")
    try:
        Path("/proc/sys/kernel/pid_max").write_text(str(_MOST_PROCESS_IDS))
        signals = _Signals(Path("trace").absolute())
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        os._exit(_NOT_POSSIBLE)
    shutil.copy("/bin/sh", _BUILDS_NAME)
    shutil.copy("/bin/sleep", f"{_BUILDS_NAME}-waits")
    silent: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(_BUILDS):
        subprocess.Popen([f"./{_BUILDS_NAME}", "-c", _BUILD], **silent)
    subprocess.Popen([*COMMAND, "census", "--all", "--no-advice", "--for", f"{seconds:g}s"], **silent)
    seen = Counter[str]()
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        seen["lost"] += _take_census(signals)
        seen["censuses"] += 1
    signals.read()
    signals.end()
    print(json.dumps({"kin": 0, "foreign": 0, **seen, **signals.seen}))


def main() -> int:
    """Work in a namespace, whose other processes the kernel kills when its first one ends."""
    # Before, the machine has one limit for all.
    if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 14):
        sys.stderr.write("this kernel has no limit of process ids for a namespace\n")
        return _NOT_POSSIBLE
    container.unshare(_NEW_PROCESS_IDS)
    container.change_mounts()
    first = os.fork()
    if first == 0:
        _work(float(sys.argv[1]))
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
