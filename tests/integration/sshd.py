"""A real sshd on the loopback, for an ordinary user who exists in its own mount namespace alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

USER = "fleetuser"
UID = 42421
_PATIENCE_S = 20

# The machine's own files stay as they are: what is bound over them is seen from here on only.
_START = r"""
set -e
mount --make-rprivate /
for name in passwd shadow group; do mount --bind "$1/$name" /etc/$name; done
mount -t tmpfs tmpfs /run
mkdir /run/sshd
exec "$2" -D -e -f "$1/sshd_config"
"""


@dataclass(frozen=True)
class Server:
    """``config`` is for ``ssh -F``; ``home`` is the user's folder; hosts are any names: all lead here."""

    config: Path
    home: Path
    process: subprocess.Popen[bytes]

    @contextlib.contextmanager
    def with_environment(self, **variables: object) -> Iterator[None]:
        """Give the sessions that begin within the block these variables too."""
        file = self.home / ".ssh/environment"
        file.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
        try:
            yield
        finally:
            file.unlink()


def why_no_sshd() -> str | None:
    if os.geteuid() != 0:
        return "only root starts an sshd for another user"
    missing = [name for name in ("sshd", "ssh", "ssh-keygen", "unshare") if _which(name) is None]
    return f"{', '.join(missing)} not installed" if missing else None


def _which(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


@contextlib.contextmanager
def loopback_sshd(*, environment: str) -> Iterator[Server]:
    """Start sshd; ``environment`` has the words ``NAME=VALUE`` that every session gets."""
    with tempfile.TemporaryDirectory(prefix="sshd-", dir="/tmp") as name:
        place = Path(name)
        place.chmod(0o755)
        home = place / "home"
        (home / ".ssh").mkdir(parents=True)
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / key)], check=True)
        shutil.copy(place / "user_key.pub", home / ".ssh/authorized_keys")
        for path in (home, home / ".ssh", home / ".ssh/authorized_keys"):
            os.chown(path, UID, UID)
        _write_accounts(place, home)
        port = free_port()
        config = _write_configs(place, port, environment)
        command = ["unshare", "-m", "sh", "-c", _START, "sh", str(place), str(_which("sshd"))]
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _await(port, process, place / "log")
            yield Server(config, home, process)
        finally:
            process.terminate()
            process.wait()


def _write_accounts(place: Path, home: Path) -> None:
    for file, line in (
        ("passwd", f"{USER}:x:{UID}:{UID}::{home}:/bin/sh"),
        ("shadow", f"{USER}:*:19000:0:99999:7:::"),
        ("group", f"{USER}:x:{UID}:"),
    ):
        (place / file).write_text(Path("/etc", file).read_text() + line + "\n")
    (place / "shadow").chmod(0o600)


def _write_configs(place: Path, port: int, environment: str) -> Path:
    (place / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {place}/host_key\nPidFile {place}/pid\nUsePAM no\n"
        f"PermitUserEnvironment yes\nPasswordAuthentication no\nAllowUsers {USER}\nMaxStartups 100\n"
        + f"SetEnv {environment}\n"
    )
    public = " ".join((place / "host_key.pub").read_text().split()[:2])
    (place / "known_hosts").write_text(f"host {public}\n")
    config = place / "ssh_config"
    config.write_text(
        f"Host *\n  HostName 127.0.0.1\n  HostKeyAlias host\n  Port {port}\n  User {USER}\n"
        f"  IdentityFile {place}/user_key\n  IdentitiesOnly yes\n  UserKnownHostsFile {place}/known_hosts\n"
        "  StrictHostKeyChecking yes\n"
    )
    return config


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    limit_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit_s and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"sshd does not listen: {log.read_text()}")
