"""A host over SSH on which nothing is installed: the drivers are copied there, started there, and removed.

OpenSSH's ``ssh`` does the talking, with all that the user's configuration says. The host needs a shell, ``cat``,
``chmod``, ``mkdir`` and ``rm``; ``flock``, ``timeout`` and ``getconf`` are used where they are. A shell there holds the
lock and the folder, and removes both when its input ends: when we are done, when we are killed, when the line breaks.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shlex
import subprocess  # noqa: TID251 (ssh starts what is measured)
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from clonometer.errors import DriverError, SettingError, UsageError
from clonometer.host.facts import collect_from
from clonometer.runner.drivers import MEASURING, Driver, Drivers, bin_folder, describe_drivers, executables
from clonometer.runner.far_source import FarSource
from clonometer.runner.interfaces import Start, Starts
from clonometer.runner.process import ANSWER_FD

# A packet each half minute, and none for two minutes is a lost host: less than any answer costs.
_OPTIONS = (
    "-T", "-a", "-x", "-oBatchMode=yes", "-oConnectTimeout=15", "-oClearAllForwardings=yes",
    "-oPermitLocalCommand=no", "-oLogLevel=ERROR", "-oServerAliveInterval=30", "-oServerAliveCountMax=4",
)  # fmt: skip
_FAR_FD = "3"
_PATIENCE_S = 60.0
# Each asks for what the answers before named.
_MOST_ROUNDS = 40
_COPY_TIMEOUT_S = 300.0
# A path of a socket has 108 bytes, of which ssh wants some.
_LONGEST_SOCKET = 80

_KEEPER = r"""
LC_ALL=C; export LC_ALL
umask 077
d=; made=; lock=${CLONOMETER_HOST_LOCK:-/tmp/clonometer-host.lock}
leave() {
    trap '' HUP INT TERM PIPE
    if [ -n "$d" ] && [ -s "$d/pid" ]; then kill -9 "$(cat "$d/pid")" 2>/dev/null; fi
    [ -z "$d" ] || rm -rf "$d"
    [ -z "$made" ] || rm -f "$lock"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM PIPE
locked="this host has no flock: it is not locked against other fleets"
if command -v flock >/dev/null 2>&1; then
    (set -C; umask 022; echo "@label@, over SSH, since $(date +%H:%M)" >"$lock") 2>/dev/null && made=yes
    if [ ! -r "$lock" ]; then echo "refused $lock cannot be read, and so not locked"; exit 0; fi
    exec 9<"$lock"
    if ! flock -n 9; then made=; echo "busy another fleet measures on this host: $(cat "$lock")"; exit 0; fi
    if [ ! "$lock" -ef /proc/self/fd/9 ]; then made=; echo "busy another fleet has just ended here"; exit 0; fi
    [ ! -O "$lock" ] || made=yes
    locked=yes
fi
for base in "${TMPDIR:-/tmp}" /tmp /var/tmp "${HOME:-/tmp}" /dev/shm; do
    d=$base/clonometer-@suffix@
    mkdir -m 700 "$d" 2>/dev/null || { d=; continue; }
    if printf '#!/bin/sh\nexit 0\n' 2>/dev/null >"$d/start" && chmod 700 "$d/start" && "$d/start" 2>/dev/null
    then break; fi
    rm -rf "$d"; d=
done
if [ -z "$d" ]; then echo "refused there is no folder in which programs may be written and started"; exit 0; fi
echo "ready $(uname -m) $d $locked"
if command -v timeout >/dev/null 2>&1; then timeout @most@ cat >/dev/null; else cat >/dev/null; fi
exit 0
"""

# What hangs from before is ended first. The driver is this shell's own process, in the foreground, by exec: a shell
# lets what it starts in the background ignore interrupts.
_START = r"""#!/bin/sh
d=${0%/*}
program=$d/$1
shift
[ ! -s "$d/pid" ] || kill -9 "$(cat "$d/pid")" 2>/dev/null
case $1 in
--fd) sh -c 'echo $$ >"$0" && exec "$@"' "$d/pid" "$program" "$@" 3>&1 >/dev/null 2>"$d/err" </dev/null ;;
*) "$program" "$@" 2>"$d/err" </dev/null ;;
esac
status=$?
rm -f "$d/pid"
while IFS= read -r line; do
    case $line in
    "keeps: "*/clonometer-?????? | "keeps: "*/clonometer.[0-9]*)
        rmdir "${line#keeps: }" 2>/dev/null || rm -rf "${line#keeps: }" 2>/dev/null ;;
    "keeps: "*) ;;
    *) printf '%s\n' "$line" >&2 ;;
    esac
done <"$d/err"
exit $status
"""


class FarError(DriverError):
    """A host over SSH that cannot be used; ``status`` is ``lost``, ``busy``, ``refused`` or ``failed``."""

    def __init__(self, message: str, status: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class FarDriver(Driver):
    """A driver that is started over SSH."""

    def command(self, *words: str) -> list[str]:
        """Write the ``ssh`` command: the shell there reads its words once more."""
        return [*self.argv, *(shlex.quote(_FAR_FD if word == ANSWER_FD else word) for word in words)]


def check_destination(destination: str) -> str:
    """Return a destination that ``ssh`` cannot take for an option.

    Raises
    ------
    UsageError
        If it is empty, begins with a hyphen, or has white space or control characters.
    """
    if not destination or destination.startswith("-") or not destination.isprintable() or " " in destination:
        raise UsageError(f"{destination!r} is no host", "hosts look like web1, alice@web1 or ssh://alice@web1:2222")
    return destination


def ask_identity(destination: str, config: str | None) -> dict[str, Any]:
    """Ask a host for its machine, instruction set and clock, by one short command.

    Gives ``machine`` (the kernel's boot id), ``arch``, ``apart_s`` (its clock minus ours) and ``apart_within_s``.

    Raises
    ------
    FarError
        If it cannot be reached, or answers otherwise.
    """
    script = "cat /proc/sys/kernel/random/boot_id; uname -m; date +%s"
    began_s = time.time()
    ended = _run([*_ssh(config), "--", check_destination(destination), "exec sh -s"], script.encode(), _PATIENCE_S)
    after_s = time.time()
    lines = ended.stdout.decode("utf-8", "replace").split()
    if ended.returncode != 0 or len(lines) != 3 or not lines[2].isdigit():
        raise FarError(_last_line(ended.stderr) or f"ssh ended with status {ended.returncode}", "lost")
    half_s = (after_s - began_s) / 2
    # The answer is a whole second, cut off.
    apart_s = int(lines[2]) + 0.5 - (began_s + half_s)
    return {"machine": lines[0], "arch": lines[1], "apart_s": apart_s, "apart_within_s": half_s + 0.5}


class FarHost(Starts):
    """The host for as long as the block lasts: locked, with our drivers in a folder that is removed at the end.

    Parameters
    ----------
    destination
        As ``ssh`` takes it.
    control
        The socket of the connection; relative where the whole path is too long for a socket.
    config
        A configuration file for ``ssh -F``, or None.
    label
        Who measures, for others who find the host locked.
    most_s
        After so long the host gives up waiting for us, should the line have broken without a word.
    drivers
        Folders of drivers for other instruction sets, by what ``uname -m`` calls them.
    """

    def __init__(
        self,
        destination: str,
        control: Path,
        *,
        config: str | None,
        label: str,
        most_s: float,
        drivers: Mapping[str, Path] | None = None,
    ) -> None:
        self._destination = check_destination(destination)
        self._config = config
        self._control = control
        if len(str(control)) > _LONGEST_SOCKET:
            raise UsageError(f"{control} is too long a name for the socket of ssh")
        self._values = {"suffix": secrets.token_hex(6), "label": _plain(label), "most": str(round(most_s))}
        self._keeper: subprocess.Popen[bytes] | None = None
        self._place = ""
        self._folders = {platform.machine(): bin_folder(), **(drivers or {})}
        self._files: list[Path] = []
        self.locked = ""

    def __enter__(self) -> Self:
        command = [*_ssh(self._config), "-M", "-S", str(self._control), "--", self._destination, "exec sh -s"]
        pipe = subprocess.PIPE
        self._keeper = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=os.environ
        )
        try:
            self._begin(self._keeper)
            self._copy()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def drivers(self) -> Drivers:
        """Let the drivers there describe themselves, and what that host lacks.

        Raises
        ------
        DriverError
            If none can be used there.
        """
        start = [*self._session(), shlex.quote(f"{self._place}/start")]
        names = [path.name for path in self._files if not path.name.startswith("target_")]
        return describe_drivers([FarDriver(name, (*start, shlex.quote(name)), {}) for name in names], None)

    def facts(self) -> dict[str, object]:
        """Read the facts of that host (docs/host.md)."""
        source = FarSource(self._read_there)
        facts = collect_from(source)
        for _ in range(_MOST_ROUNDS):
            if not source.fetch_missing():
                break
            facts = collect_from(source)
        return facts

    def before(self, target: int, interrupt_fd: int | None, /) -> Start:
        """End the measuring where the host is lost, instead of trying each cell in vain."""
        if not self.is_there:
            raise SettingError("the host is lost")
        return super().before(target, interrupt_fd)

    @property
    def is_there(self) -> bool:
        """Whether the shell that keeps the host still runs, as far as ``ssh`` knows."""
        return self._keeper is not None and self._keeper.poll() is None

    def _begin(self, keeper: subprocess.Popen[bytes]) -> None:
        script = _KEEPER
        for name, value in self._values.items():
            script = script.replace(f"@{name}@", value)
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            keeper.stdin.write(script.encode())
            keeper.stdin.flush()
        except BrokenPipeError:
            pass
        word, _, rest = keeper.stdout.readline().decode("utf-8", "replace").strip().partition(" ")
        if word in ("busy", "refused"):
            raise FarError(rest, word)
        if word != "ready":
            assert keeper.stderr is not None
            keeper.wait()
            raise FarError(_last_line(keeper.stderr.read()) or "the connection gave no answer", "lost")
        arch, self._place, self.locked = rest.split(" ", 2)
        if arch not in self._folders:
            known = ", ".join(self._folders)
            raise FarError(f"it is {arch}; the drivers here are for {known}: add --drivers {arch}=FOLDER", "refused")
        self._files = executables(self._folders[arch], MEASURING)
        if not self._files:
            raise FarError(f"{self._folders[arch]} has no drivers for {arch}", "refused")

    def _copy(self) -> None:
        self._put("start", _START.encode())
        for path in self._files:
            self._put(path.name, path.read_bytes())

    def _put(self, name: str, content: bytes) -> None:
        path = shlex.quote(f"{self._place}/{name}")
        command = [*self._session(), f"cat >{path} && chmod 700 {path}"]
        ended = _run(command, content, _COPY_TIMEOUT_S)
        if ended.returncode != 0:
            status = "failed" if self.is_there else "lost"
            raise FarError(f"cannot copy {name} there: {_last_line(ended.stderr)}", status)

    def _read_there(self, script: bytes) -> bytes:
        return _run([*self._session(), "exec sh -s"], script, _PATIENCE_S).stdout

    def _session(self) -> tuple[str, ...]:
        # No new connection where the first is lost: it would have no folder there.
        return (*_ssh(self._config), "-S", str(self._control), "-oControlMaster=no", "-oProxyCommand=false", "--",
                self._destination)  # fmt: skip

    def _end(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        try:
            keeper.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.communicate()
        except (OSError, ValueError):
            keeper.kill()
            keeper.wait()


def _ssh(config: str | None) -> tuple[str, ...]:
    return ("ssh", *(("-F", config) if config is not None else ()), *_OPTIONS)


def _run(command: Sequence[str], given: bytes, timeout_s: float) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, input=given, check=False, capture_output=True, timeout=timeout_s, start_new_session=True,
            env=os.environ,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise FarError(f"no answer within {timeout_s:.0f} s", "lost") from error
    except OSError as error:
        raise FarError(f"cannot start ssh: {error.strerror}", "refused") from error


def _plain(label: str) -> str:
    """Keep of a label what a shell takes as it is."""
    return "".join(letter for letter in label if letter.isascii() and (letter.isalnum() or letter in " .:_-"))


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return json.dumps(lines[-1][:300])[1:-1] if lines else ""
