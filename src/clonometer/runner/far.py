"""A host over SSH on which nothing is installed: the drivers are copied there, started there, and removed.

OpenSSH's ``ssh`` does the talking, with all that the user's configuration says. The host needs a shell, ``cat``,
``chmod``, ``mkdir`` and ``rm``; ``env``, ``flock``, ``timeout`` and ``getconf`` are used where they are. A shell there
holds the lock and the folder, and removes both when its input ends: when we are done, when we are killed, when the line
breaks.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
import select
import shlex
import subprocess  # noqa: TID251 (ssh starts what is measured)
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Self

from clonometer.errors import DriverError, SettingError, UnavailableError, UsageError
from clonometer.host.facts import collect_from
from clonometer.plan.types import Target
from clonometer.runner.drivers import MEASURING, Driver, Drivers, bin_folder, describe_drivers, executables
from clonometer.runner.environment import fixed_variables, size_of
from clonometer.runner.far_source import FarSource
from clonometer.runner.interfaces import LaunchHooks, Start
from clonometer.runner.process import ANSWER_FD, Ending, answer_of, end_with_starter

# A packet each half minute, and none for two minutes is a lost host: less than any answer costs.
_OPTIONS = (
    "-T", "-a", "-x", "-oBatchMode=yes", "-oConnectTimeout=15", "-oClearAllForwardings=yes",
    "-oPermitLocalCommand=no", "-oLogLevel=ERROR", "-oServerAliveInterval=30", "-oServerAliveCountMax=4",
)  # fmt: skip
_FAR_FD = "3"
PATIENCE_S = 60.0
# After its input has ended a host removes a folder, and ends.
_FAREWELL_S = 10.0
# What a host may answer: who it is, that it is ready, what its facts are, and one driver's samples.
_MOST_WORDS_BYTES = 4096
_MOST_FACTS_BYTES = 32 << 20
_MOST_SAMPLES_BYTES = 256 << 20
_MOST_REASON = 300
# Boot id, instruction set, seconds since 1970: no more letters than each has, and ASCII alone.
_IDENTITY = re.compile(rb"([0-9a-f-]{36})\s+([A-Za-z0-9_.-]{1,32})\s+([0-9]{1,11})\s*")
_READY = re.compile(r"([A-Za-z0-9_.-]{1,32}) (/[A-Za-z0-9_./+@-]{1,200}) ([ -~]{1,100})")
# Each asks for what the answers before named.
_MOST_ROUNDS = 40
_COPY_TIMEOUT_S = 300.0
# A path of a socket has 108 bytes, of which ssh wants some.
_LONGEST_SOCKET = 80
# The shell there gets the whole command as one argument, of 128 KiB at most.
_MOST_ENVIRONMENT = 100_000

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
locked="this host has no flock, so it is not locked against other fleets"
if command -v flock >/dev/null 2>&1; then
    (set -C; umask 022; echo "@label@, over SSH, since $(date +%H:%M)" >"$lock") 2>/dev/null && made=yes
    if [ ! -r "$lock" ]; then echo "refused $lock cannot be read and therefore not locked"; exit 0; fi
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
if [ -z "$d" ]; then echo "refused there is no folder in which programs can be written and started"; exit 0; fi
echo "ready $(uname -m) $d $locked"
if command -v timeout >/dev/null 2>&1; then timeout @most@ cat >/dev/null; else cat >/dev/null; fi
exit 0
"""

# What hangs from before is ended first. The driver is this shell's own process, in the foreground, by exec: a shell
# lets what it starts in the background ignore interrupts. The words are the environment, the program, its own words.
_START = r"""#!/bin/sh
d=${0%/*}
[ ! -s "$d/pid" ] || kill -9 "$(cat "$d/pid")" 2>/dev/null
start='exec env -i "$@"'
command -v env >/dev/null 2>&1 || start='while IFS= read -r line; do
    case $line in "export "*=*) line=${line#export }; unset "${line%%=*}" ;; esac
done <<END
$(export -p)
END
while :; do case $1 in *=*) export "$1"; shift ;; *) break ;; esac; done
exec "$@"'
fd=
for word do [ "$word" != --fd ] || fd=yes; done
case $fd in
yes) sh -c 'echo $$ >"$0" || exit; '"$start" "$d/pid" "$@" 3>&1 >/dev/null 2>"$d/err" </dev/null ;;
*) sh -c "$start" sh "$@" 2>"$d/err" </dev/null ;;
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
        super().__init__(cut(message))
        self.status = status


@dataclass(frozen=True)
class FarDriver(Driver):
    """A driver that is started over SSH."""

    most_answer_bytes: ClassVar[float] = _MOST_SAMPLES_BYTES

    def folders(self, target: Target) -> tuple[str, ...]:
        """None: what it makes is on that host, and nothing that a host says is removed here."""
        return ()

    def command(self, *words: str) -> list[str]:
        """Write the ``ssh`` command: the shell there reads its words once more."""
        return [*self.argv, *(shlex.quote(_FAR_FD if word == ANSWER_FD else word) for word in words)]

    @property
    def variables(self) -> dict[str, str]:
        """What its environment has: nothing of ours, and nothing of that host's shell."""
        return fixed_variables({"TMPDIR": str(PurePosixPath(shlex.split(self.argv[-1])[0]).parent)})

    def start_in(self, environment: Mapping[str, str], command: Sequence[str]) -> tuple[list[str], Mapping[str, str]]:
        """Put the environment into the command, for ``env`` there; ``ssh`` has the user's."""
        first = len(self.argv) - 1
        size = size_of(environment)
        if size > _MOST_ENVIRONMENT:
            raise UnavailableError(f"an environment of {size} bytes: over SSH it has at most {_MOST_ENVIRONMENT}")
        words = (shlex.quote(f"{name}={value}") for name, value in environment.items())
        return [*command[:first], *words, *command[first:]], os.environ


def check_destination(destination: str) -> str:
    """Return a destination that ``ssh`` cannot take for an option.

    Raises
    ------
    UsageError
        If it is empty, begins with a hyphen, or has white space or control characters.
    """
    if not destination or destination.startswith("-") or not destination.isprintable() or " " in destination:
        raise UsageError(f"{destination!r} is not a host", "hosts look like web1, alice@web1 or ssh://alice@web1:2222")
    return destination


def ask_identity(destination: str, config: str | None, patience_s: float = PATIENCE_S) -> dict[str, Any]:
    """Ask a host for its machine, instruction set and clock, by one short command.

    Gives ``machine`` (the kernel's boot id), ``arch``, ``apart_s`` (its clock minus ours) and ``apart_within_s``.

    Raises
    ------
    FarError
        If it cannot be reached, or answers otherwise.
    """
    script = "cat /proc/sys/kernel/random/boot_id; uname -m; date +%s"
    command = [*_ssh(config), "--", check_destination(destination), "exec sh -s"]
    began_s = time.time()
    answer, ending = _run(command, script.encode(), patience_s, _MOST_WORDS_BYTES)
    after_s = time.time()
    identity = _IDENTITY.fullmatch(answer)
    if ending.exit_status != 0 or identity is None:
        raise FarError(_why(ending) or "its description of itself cannot be understood", "lost")
    half_s = (after_s - began_s) / 2
    # The answer is a whole second, cut off.
    apart_s = int(identity[3]) + 0.5 - (began_s + half_s)
    machine, arch = identity[1].decode(), identity[2].decode()
    return {"machine": machine, "arch": arch, "apart_s": apart_s, "apart_within_s": half_s + 0.5}


class FarHost(LaunchHooks):
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
    patience_s
        How long one answer of the host is waited for.
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
        patience_s: float = PATIENCE_S,
        drivers: Mapping[str, Path] | None = None,
    ) -> None:
        self._destination = check_destination(destination)
        self._config = config
        self._control = control
        if len(str(control)) > _LONGEST_SOCKET:
            raise UsageError(f"{control} is too long for the name of an ssh socket")
        self._patience_s = min(patience_s, most_s)
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
            command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=os.environ, bufsize=0,
            preexec_fn=end_with_starter,  # noqa: PLW1509 (one call into the kernel, no more)
        )  # fmt: skip
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
        programs = {name: shlex.quote(f"{self._place}/{name}") for name in names}
        return describe_drivers([FarDriver(name, (*start, path), {}) for name, path in programs.items()], None)

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
        line = _first_line(keeper, self._patience_s)
        word, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
        if word in ("busy", "refused"):
            raise FarError(rest, word)
        ready = _READY.fullmatch(rest)
        if word != "ready" or ready is None:
            raise FarError(_last_line(_available(keeper)) or "the answer of the connection is not understood", "lost")
        arch, self._place, self.locked = ready.groups()
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
        _, ending = _run(command, content, min(_COPY_TIMEOUT_S, 5 * self._patience_s), _MOST_WORDS_BYTES)
        if ending.exit_status != 0:
            status = "failed" if self.is_there else "lost"
            raise FarError(f"cannot copy {name} there: {_why(ending)}", status)

    def _read_there(self, script: bytes) -> bytes:
        answer, ending = _run([*self._session(), "exec sh -s"], script, self._patience_s, _MOST_FACTS_BYTES)
        if ending.stopped is not None:
            raise FarError(f"its facts cannot be read: {_why(ending)}", "lost")
        return answer

    def _session(self) -> tuple[str, ...]:
        # No new connection where the first is lost: it would have no folder there.
        return (*_ssh(self._config), "-S", str(self._control), "-oControlMaster=no", "-oProxyCommand=false", "--",
                self._destination)  # fmt: skip

    def _end(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        for stream in (keeper.stdin, keeper.stdout, keeper.stderr):
            if stream is not None:
                # What it may still say has no reader: it cannot be waited for, nor take memory.
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            keeper.wait(timeout=min(_FAREWELL_S, self._patience_s))
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.wait()


def _ssh(config: str | None) -> tuple[str, ...]:
    return ("ssh", *(("-F", config) if config is not None else ()), *_OPTIONS)


def _run(command: Sequence[str], given: bytes, timeout_s: float, most_bytes: int) -> tuple[bytes, Ending]:
    """Let ssh run a command to its end; what it answers is bounded, in bytes and in time."""
    answer, ending = answer_of(command, timeout_s=timeout_s, most_bytes=most_bytes, given=given, environment=os.environ)
    if ending.stopped == "timeout":
        raise FarError(f"no answer within {timeout_s:.0f} s", "lost")
    return answer, ending


def _why(ending: Ending) -> str:
    """Why ssh gave no answer that can be used; empty where it ended well."""
    if ending.stopped == "refused":
        return "its answer is longer than expected"
    words = _last_line(ending.stderr.encode("utf-8", "replace"))
    return words or ("" if ending.exit_status == 0 else f"ssh ended with status {ending.exit_status}")


def _first_line(keeper: subprocess.Popen[bytes], patience_s: float) -> bytes:
    """The first line that the shell there writes, or what there is of it: so many bytes, and so long."""
    assert keeper.stdout is not None
    until_s = time.monotonic() + patience_s
    line = b""
    while b"\n" not in line and len(line) < _MOST_WORDS_BYTES:
        left_s = until_s - time.monotonic()
        if left_s <= 0 or not select.select([keeper.stdout], [], [], left_s)[0]:
            raise FarError(f"no answer within {patience_s:.0f} s", "lost")
        piece = os.read(keeper.stdout.fileno(), _MOST_WORDS_BYTES)
        if not piece:
            break
        line += piece
    return line.partition(b"\n")[0]


def _available(keeper: subprocess.Popen[bytes]) -> bytes:
    """What it has said on standard error; it is waited for a moment, and no longer."""
    assert keeper.stderr is not None
    with contextlib.suppress(subprocess.TimeoutExpired):
        keeper.wait(timeout=1.0)
    if not select.select([keeper.stderr], [], [], 0)[0]:
        return b""
    return os.read(keeper.stderr.fileno(), 1 << 16)


def cut(text: str) -> str:
    r"""Make one short printable line of what a host says.

    Examples
    --------
    >>> cut("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    short = text if len(text) <= _MOST_REASON else text[: _MOST_REASON - 3] + "..."
    escaped = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in short)
    return escaped if len(escaped) <= _MOST_REASON else escaped[: _MOST_REASON - 3] + "..."


def _plain(label: str) -> str:
    """Keep of a label what a shell takes as it is."""
    return "".join(letter for letter in label if letter.isascii() and (letter.isalnum() or letter in " .:_-"))


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return cut(lines[-1]) if lines else ""
