"""Hosts that are network namespaces of this machine, joined by a bridge in the namespace of a head."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HEAD_ADDRESS = "10.77.0.1"
_PATIENCE_S = 60


def why_no_namespaces() -> str | None:
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    if shutil.which("ip") is None:
        return "ip is not installed"
    trial = f"clonotry-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", trial], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"no network namespace can be made: {made.stderr.strip()}"
    bridged = subprocess.run(
        ["ip", "-n", trial, "link", "add", "bridge0", "type", "bridge"], capture_output=True, text=True, check=False
    )
    subprocess.run(["ip", "netns", "delete", trial], check=True)
    return None if bridged.returncode == 0 else f"no bridge can be made: {bridged.stderr.strip()}"


@dataclass
class Network:
    """A head and its hosts; programs are started in each, and ended with the network."""

    folder: Path
    mark: str
    programs: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _count: int = 0

    def name(self, host: str) -> str:
        return f"{self.mark}-{host}"

    def add_host(self, host: str) -> None:
        self._count += 1
        name, head = self.name(host), self.name("head")
        inner, outer = f"v{self._count}i", f"v{self._count}o"
        _ip("netns", "add", name)
        _ip("-n", head, "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
        _ip("-n", head, "link", "set", outer, "master", "bridge0", "up")
        _ip("-n", name, "address", "add", f"10.77.0.{self._count + 1}/24", "dev", inner)
        for device in (inner, "lo"):
            _ip("-n", name, "link", "set", device, "up")

    def command(self, host: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.name(host), *words]

    def start(self, what: str, host: str, *words: str, environ: Mapping[str, str] = {}) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{what}.log").open("ab")
        with log:
            program = subprocess.Popen(
                self.command(host, *words), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, **environ}, cwd=self.folder,
            )  # fmt: skip
        self.programs[what] = program
        return program

    def start_scheduler(self, environ: Mapping[str, str]) -> None:
        words = ["--host", HEAD_ADDRESS, "--port", "8786", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        self.start("scheduler", "head", sys.executable, "-m", "distributed.cli.dask_scheduler", *words,
                   environ={**environ, "DASK_TEMPORARY_DIRECTORY": str(self.folder / "dask-head")})  # fmt: skip

    def start_worker(self, host: str, environ: Mapping[str, str]) -> None:
        folder = self.folder / f"tmp-{host}"
        folder.mkdir(exist_ok=True)
        of_host = {
            # Drivers are recognized by it, and get no variable that nobody passes on.
            "CLONOMETER_HOST": host, "CLONOMETER_PASS": "CLONOMETER_HOST",
            "CLONOMETER_HOST_LOCK": str(self.folder / f"lock-{host}"), "TMPDIR": str(folder),
        }  # fmt: skip
        words = [
            "--no-nanny",
            "--nthreads",
            "2",
            "--no-dashboard",
            "--local-directory",
            str(self.folder / f"dask-{host}"),
        ]
        address = f"tcp://{HEAD_ADDRESS}:8786"
        self.start(
            host, host, sys.executable, "-m", "distributed.cli.dask_worker", address, *words,
            environ={**environ, **of_host},
        )  # fmt: skip

    def kill(self, what: str) -> None:
        program = self.programs.pop(what)
        program.kill()
        program.wait()

    def end(self) -> None:
        # Workers first: without its scheduler one takes long to end.
        for program in sorted(self.programs.values(), key=lambda program: program is self.programs.get("scheduler")):
            program.terminate()
            try:
                program.wait(timeout=5)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


@contextlib.contextmanager
def network(folder: Path, hosts: tuple[str, ...]) -> Iterator[Network]:
    net = Network(folder, f"clono{os.getpid()}")
    try:
        head = net.name("head")
        _ip("netns", "add", head)
        _ip("-n", head, "link", "add", "bridge0", "type", "bridge")
        _ip("-n", head, "address", "add", f"{HEAD_ADDRESS}/24", "dev", "bridge0")
        for device in ("bridge0", "lo"):
            _ip("-n", head, "link", "set", device, "up")
        for host in hosts:
            net.add_host(host)
        yield net
    finally:
        net.end()
        for host in ("head", *hosts):
            subprocess.run(["ip", "netns", "delete", net.name(host)], capture_output=True, check=False)


def measuring(host: str) -> list[int]:
    """Drivers that measure on a host, by what its worker has in its environment."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            is_driver = words[0].endswith(b"probe-static") and words[1] == b"--fd"
            if is_driver and f"CLONOMETER_HOST={host}\0".encode() in (entry / "environ").read_bytes():
                pids.append(int(entry.name))
    return pids


def await_measuring(host: str) -> int:
    limit_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit_s:
        pids = measuring(host)
        if pids:
            return pids[0]
        time.sleep(0.02)
    raise AssertionError(f"nothing measures on {host}")


def stop_measuring(host: str) -> None:
    """Stop a driver that measures on a host; one that has just ended is nothing to be stopped."""
    limit_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit_s:
        pid = await_measuring(host)
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.05)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                return
    raise AssertionError(f"nothing can be stopped on {host}")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
