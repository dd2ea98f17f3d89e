"""A process that has loaded everything once and forks for each command, in place of starting Python anew.

Tests ask hundreds of times what a command answers, not how Python loads it. A forked child gets the words, variables,
folder, output and end of a process of its own. Tests of signals, limits and starting up begin a new Python.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_LIBRARIES = ("numpy", "scipy.stats", "scipy.optimize", "pyarrow.parquet", "rich_click", "rich.table", "jinja2")
_LONGEST = 1 << 18
_used: list[float] = []
#: In the environment of processes that share a server: where it listens.
ADDRESS = "CLONOMETER_TEST_FORK_SERVER"
#: Python and the C library read variables that begin so as they start.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "GLIBC_", "MALLOC_", "OPENBLAS_")


class ForkServer:
    """A server that forks for one command after the other; others that know its address take it too."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        atexit.register(self._socket.close)
        self._socket.connect("\0" + (os.environ.get(ADDRESS) or start_server()))

    def run(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as `subprocess.run` does that captures output as text, and nothing comes in.

        Raises
        ------
        subprocess.TimeoutExpired
            It took longer than ``seconds``, and was killed.
        """
        end_s = time.monotonic() + seconds
        pipes = [os.pipe(), os.pipe()]
        request = json.dumps([list(words), str(folder), dict(environment)]).encode()
        socket.send_fds(self._socket, [request], [writing for _, writing in pipes])
        for _, writing in pipes:
            os.close(writing)
        pid = int(self._socket.recv(_LONGEST))
        try:
            texts = _read_to_the_end([reading for reading, _ in pipes], end_s)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(words), seconds) from None
        finally:
            status, used = self._socket.recv(_LONGEST).decode().split()
            _used.append(float(used))
        return subprocess.CompletedProcess(list(words), int(status), *(text.decode() for text in texts))


def used_s() -> float:
    """Processor time of the commands that were run for this process, in seconds."""
    return sum(_used)


def _read_to_the_end(readings: Sequence[int], end_s: float) -> list[bytes]:
    """Read all that comes until the last writer has closed its end."""
    texts = dict.fromkeys(readings, b"")
    with selectors.DefaultSelector() as selector:
        for reading in readings:
            selector.register(reading, selectors.EVENT_READ)
        try:
            while selector.get_map():
                ready = selector.select(max(end_s - time.monotonic(), 0))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    part = os.read(key.fd, 1 << 16)
                    texts[key.fd] += part
                    if not part:
                        selector.unregister(key.fd)
        finally:
            for reading in readings:
                os.close(reading)
    return list(texts.values())


@functools.cache
def fork_server() -> ForkServer:
    """Give the server that whoever started this process has, or one of its own that ends with it."""
    return ForkServer()


def start_server() -> str:
    """Start a server that ends with this process; give its address, which is no file's."""
    address = f"clonometer-tests-{os.getpid()}"
    held, at_server = socket.socketpair()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening, at_server:
        listening.bind("\0" + address)
        listening.listen()
        passed = [listening.fileno(), at_server.fileno()]
        server = subprocess.Popen(
            [sys.executable, __file__, *map(str, passed)],
            pass_fds=passed,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def end() -> None:
        held.close()
        server.wait()

    atexit.register(end)
    return address


def starts_alike(environment: Mapping[str, str]) -> bool:
    """Whether a process with these variables would have begun as the server did."""
    names = {name for name in {*environment, *os.environ} if name.startswith(_READ_AT_START)} - {"PYTHONPATH"}
    return all(environment.get(name) == os.environ.get(name) for name in names)


def _serve(listening: socket.socket, starter: socket.socket) -> None:
    """Load everything, then fork for each who connects, until the starter has gone; returns in a command's process."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    import clonometer

    for module in pkgutil.walk_packages(clonometer.__path__, "clonometer."):
        importlib.import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while starter not in select.select([listening, starter], [], [])[0]:
        asked, _ = listening.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            starter.close()
            _serve_one(asked)
            return
        asked.close()
    os._exit(0)


def _serve_one(asked: socket.socket) -> None:
    """Fork for each request, tell the child's process id, then how it ended; a child returns from here."""
    while True:
        request, received, _, _ = socket.recv_fds(asked, _LONGEST, 2)
        if not request:
            os._exit(0)
        pid = os.fork()
        if not pid:
            asked.close()
            _become(*json.loads(request), received)
            return
        for descriptor in received:
            os.close(descriptor)
        asked.send(str(pid).encode())
        _, ended, usage = os.wait4(pid, 0)
        asked.send(f"{os.waitstatus_to_exitcode(ended)} {usage.ru_utime + usage.ru_stime}".encode())


def _become(words: list[str], folder: str, environment: dict[str, str], received: list[int]) -> None:
    """Take the place of a process that was started with all this."""
    for standard, descriptor in enumerate(received, 1):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    # As Python begins them: those of the server remember what they were opened upon.
    out, errors = (os.fdopen(standard, "w", encoding=sys.stdout.encoding, closefd=False) for standard in (1, 2))
    errors.reconfigure(errors="backslashreplace", line_buffering=True)
    sys.stdout, sys.__stdout__, sys.stderr, sys.__stderr__ = out, out, errors, errors  # type: ignore[misc]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.argv[1:] = words


def _end_as(command: Callable[[], object]) -> None:
    """Run the command and end with its status, as Python ends but without destroying all that the server has loaded."""
    status = 0
    try:
        command()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))
    from clonometer.cli.start import main

    _end_as(main)
