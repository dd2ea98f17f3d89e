"""Starts a server in a folder of its own, as an ordinary user, counts its CPU time, and ends all of it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from publications.servers.case import ServerCase, Side
from tools.torture.sandbox import become_subreaper

NOBODY = 65534
_AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
_STARTS_S, _ENDS_S, _PAUSE_S = 30.0, 10.0, 0.05
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class NotServingError(RuntimeError):
    """A server that did not start, or left something behind; the message has the end of what it wrote."""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def ordinary(words: Sequence[str]) -> list[str]:
    """A command as an ordinary user would run it."""
    return [*_AS_NOBODY, *words] if os.geteuid() == 0 else list(words)


class Place:
    """A side's folder, with its port and files."""

    def __init__(self, case: ServerCase, side: Side, folder: Path) -> None:
        self.case, self.side, self.folder = case, side, folder
        self.port, self.other_port = free_port(), free_port()
        self.environment = {**os.environ, "PATH": ":".join([*case.folders, os.environ["PATH"]]), "HOME": str(folder)}
        folder.mkdir(mode=0o755)
        self._write({**case.files, **side.files})
        for words in case.prepare:
            self.run(words)

    def filled(self, text: str) -> str:
        """A text with this folder and these ports in it."""
        names = {"@port@": str(self.port), "@other_port@": str(self.other_port), "@folder@": str(self.folder)}
        for name, value in names.items():
            text = text.replace(name, value)
        return text

    def _write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.filled(text), encoding="utf-8")
            path.chmod(0o755)
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY)

    def run(self, words: Sequence[str]) -> str:
        """Run a command as the server's user, until it ends; what it wrote.

        Raises
        ------
        NotServingError
            If it fails.
        """
        command = ordinary([self.filled(word) for word in words])
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        if ended.returncode != 0:
            raise NotServingError(f"{' '.join(words)} ended with {ended.returncode}: {ended.stdout[-500:]}")
        return ended.stdout

    def _until_it_succeeds(self, words: Sequence[str]) -> None:
        """Who listens need not be ready yet."""
        until = time.monotonic() + _STARTS_S
        while True:
            try:
                self.run(words)
                return
            except NotServingError:
                if time.monotonic() > until:
                    raise
            time.sleep(_PAUSE_S)

    @contextlib.contextmanager
    def serving(self) -> Iterator[Server]:
        """The server while it runs; when this is left, all of it has ended, and nobody listens."""
        server = Server(self)
        try:
            server.start()
            for words in self.case.ready:
                self._until_it_succeeds(words)
            yield server
        finally:
            server.stop()


class Server:
    """The processes of a side: those that were started, and all that they created."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.roots: list[subprocess.Popen[bytes]] = []
        # Who loses its parent is ours until `stop`: to find, to end, and to wait for.
        become_subreaper()

    @property
    def pid(self) -> int:
        """The process that listens."""
        return self.roots[-1].pid

    def start(self) -> None:
        """Start each process, and wait until connections are accepted.

        Raises
        ------
        NotServingError
            If none is within half a minute.
        """
        ports = [self.place.other_port] * (len(self.place.side.commands) - 1) + [self.place.port]
        for words, port in zip(self.place.side.commands, ports, strict=True):
            with (self.place.folder / "output.log").open("ab") as log:
                self.roots.append(
                    subprocess.Popen(
                        ordinary([self.place.filled(word) for word in words]),
                        cwd=self.place.folder,
                        env=self.place.environment,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )
                )
            self._wait_for(port)

    def _wait_for(self, port: int) -> None:
        until = time.monotonic() + _STARTS_S
        while not listens(port):
            if self.roots[-1].poll() is not None or time.monotonic() > until:
                raise NotServingError(f"{self.place.case.name}, {self.place.side.name} does not listen: {self.log()}")
            time.sleep(_PAUSE_S)

    def log(self) -> str:
        """The end of what it wrote."""
        logs = sorted(self.place.folder.glob("*.log"))
        return " ".join(path.read_text(errors="replace")[-300:] for path in logs)

    def processes(self) -> dict[int, list[str]]:
        """All of its processes with the fields of /proc/PID/stat that follow the name."""
        fields = dict(_stats())
        children: dict[int, list[int]] = {}
        for pid, stat in fields.items():
            children.setdefault(int(stat[1]), []).append(pid)
        family, waiting = {}, [root.pid for root in self.roots]
        while waiting:
            pid = waiting.pop()
            if pid in fields:
                family[pid] = fields[pid]
                waiting += children.get(pid, [])
        return family

    def cpu_s(self) -> float:
        """CPU time of all of its tasks until now: of those that run, and of those that were waited for."""
        return sum(int(ticks) for stat in self.processes().values() for ticks in stat[11:15]) * _TICK_S

    def own_cpu_s(self) -> float:
        """The same of the processes that were started here, without those that they created."""
        family = self.processes()
        return sum(int(ticks) for root in self.roots for ticks in family.get(root.pid, ())[11:13]) * _TICK_S

    def own_faults(self) -> int:
        """Page faults of the processes that were started here, without those that they created."""
        family = self.processes()
        return sum(int(family[root.pid][7]) for root in self.roots if root.pid in family)

    def stop(self) -> None:
        """End it, by force what does not end when asked.

        Raises
        ------
        NotServingError
            If somebody still listens afterwards.
        """
        family = {pid: stat[19] for pid, stat in self.processes().items()}
        how = signal.SIGINT if self.place.case.stop == "INT" else signal.SIGTERM
        for root in reversed(self.roots):
            root.send_signal(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                root.wait(_ENDS_S)
        family |= {pid: stat[19] for pid, stat in self.processes().items()}
        # A number may be somebody else's by now: the time at which it began tells.
        for pid, began in family.items():
            if dict(_stats()).get(pid, [""] * 20)[19] == began:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for root in self.roots:
            root.wait()
        self._reap(set(family) - {root.pid for root in self.roots})
        become_subreaper(False)
        if listens(self.place.port) or (len(self.roots) > 1 and listens(self.place.other_port)):
            raise NotServingError(f"{self.place.case.name}: somebody still listens after its end")

    def _reap(self, pids: set[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _stats() -> Iterator[tuple[int, list[str]]]:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                text = Path(entry.path, "stat").read_text(errors="replace")
                yield int(entry.name), text.rpartition(") ")[2].split()


def listens(port: int) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
