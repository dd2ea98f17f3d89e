"""What plays ``ssh`` for a fleet of strangers: this machine's shell under many names, each of which lies in one way.

Started as ``ssh ... -- HOST COMMAND`` by the fleet's run. An honest host, ``honest*``, hands the command to a shell,
with a boot id, a temporary folder and a lock of its own. The others, ``STEP.LIE``, do so too until that step.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import uuid
from collections.abc import Callable

BAIT = "BAIT"
_FLOOD = b"x" * (1 << 16)
_LONG = b"y" * (5 << 20)
_ESCAPES = b"\x1b]0;owned\x07\x1b[31m\xff\xfe<script>\n"
_DEEP = b"[" * 200_000


def say(content: bytes, fd: int = 1) -> None:
    """Write it all; whoever does not listen any more ends this process."""
    while content:
        content = content[os.write(fd, content) :]


def flood(fd: int = 1) -> None:
    """Write without end."""
    while True:
        say(_FLOOD, fd)


def silence() -> None:
    """Say nothing, whatever is asked, and do not end with the input."""
    while True:
        time.sleep(60)


def words(content: bytes, status: int = 0, fd: int = 1) -> Callable[[], None]:
    """Answer with these words."""

    def answer() -> None:
        say(content, fd)
        sys.exit(status)

    return answer


def _keeps() -> None:
    """Name folders of the machine that asks, as if a driver had made them."""
    bait = os.environ[BAIT]
    names = ("clonometer-master", "clonometer-abcdef", "clonometer.7", ".", "../", "clonometer-abcdef/../precious")
    say("".join(f"keeps: {bait}/{name}\n" for name in names).encode() + b"keeps: \xff\n", 2)


def _keeps_then(rest: Callable[[], None]) -> Callable[[], None]:
    def answer() -> None:
        _keeps()
        rest()

    return answer


def _frames(kind: bytes, length: int) -> bytes:
    return b"CLNMETER" + (1).to_bytes(4, "little") + bytes(4) + kind + bytes(4) + length.to_bytes(8, "little")


_BOOT = b"0b1c2d3e-0000-4000-8000-000000000001"


def _boot_of(host: str) -> bytes:
    """What a host that does not lie gives for its boot id."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, host)).encode()


_NOW = str(int(time.time())).encode()


def _identity(arch: bytes = b"x86_64", now: bytes = _NOW, boot: bytes = _BOOT) -> Callable[[], None]:
    return words(boot + b"\n" + arch + b"\n" + now + b"\n")


# The lies by the step at which they are told: who it is, the shell that keeps the host, copying, what its drivers
# describe, its facts, the calibration of its clock, and what it measures.
LIES: dict[str, dict[str, Callable[[], None]]] = {
    "identity": {
        "silent": silence, "flood": flood, "flood-of-errors": lambda: flood(2), "nothing": words(b""),
        "superscript": _identity(now="²".encode()), "many-digits": _identity(now=b"9" * 5000),
        "negative": _identity(now=b"-1"), "not-a-number": _identity(now=b"nan"), "zeros": words(bytes(4000)),
        "escapes": _identity(arch=_ESCAPES.strip()), "long-arch": _identity(arch=b"a" * 4000),
        "no-boot-id": _identity(boot=b"../../etc"),
        "boot-id-of-honest1": _identity(boot=_boot_of("honest1")),
        "boot-id-of-honest2": _identity(boot=_boot_of("honest2")), "long-reason": words(_LONG, 255, 2),
        "reason-with-escapes": words(_ESCAPES, 255, 2), "not-utf8": words(b"\xff\xfe\xfd" * 100),
    },
    "keeper": {
        "silent": silence, "flood": flood, "flood-of-errors": lambda: flood(2), "nothing": words(b"", 1),
        "ready-alone": words(b"ready\n"), "long-folder": words(b"ready x86_64 /" + _LONG + b" yes\n"),
        "folder-above": words(b"ready x86_64 ../../etc yes\n"), "long-busy": words(b"busy " + _LONG + b"\n"),
        "shell-words": words(b"ready x86_64 /tmp/$(touch${IFS}owned) yes\n"), "refused": words(b"refused " + _ESCAPES),
        "other-arch": words(b"ready " + b"z" * 30 + b" /tmp/a yes\n"),
        "lock-escapes": words(b"ready x86_64 /a \x1b[2J\n"),
        "long-error": words(_LONG, 255, 2),
    },
    "copy": {"silent": silence, "flood": flood, "long-reason": words(_LONG, 1, 2), "escapes": words(_ESCAPES, 1, 2)},
    "describe": {
        "silent": silence, "flood": flood, "deep": words(_DEEP), "number": words(b'{"workloads": 1e999}'),
        "keeps": _keeps_then(words(b"{}")),
        "odd": words(b'{"workloads":[{"id":"../../x"},3,null],"axes":[[]],"driver":[]}'),
    },
    "facts": {"silent": silence, "flood": flood, "nothing": words(b"", 1), "zeros": words(bytes(1 << 20))},
    "calibrate": {
        "huge": words(b'{"clock":"tsc","clock_hz":1' + b"0" * 4000 + b"}"),
        "unknown": words(b'{"clock":"' + b"c" * 1000 + b'"}'),
    },
    "measure": {
        "flood": flood, "flood-of-errors": lambda: flood(2),
        "huge-frame": words(_frames(b"HEAD", 1 << 62)), "samples-first": words(_frames(b"COLS", 1 << 31)),
        "escapes": words(_frames(b"HEAD", len(_ESCAPES)) + _ESCAPES),
        "deep": words(_frames(b"HEAD", len(_DEEP)) + _DEEP),
        "keeps": _keeps_then(words(b"")), "keeps-and-silent": _keeps_then(silence),
    },
}  # fmt: skip
NAMES = [f"{step}.{lie}" for step, lies in LIES.items() for lie in lies]


# What plays ssh: where nobody lies it is the shell alone, since Python's start takes longer than all that is asked.
SSH = r"""#!/bin/sh
step=identity
while [ "$1" != -- ]; do
    case $1 in -M) step=keeper ;; -S) [ $step = keeper ] || step=facts ;; esac
    shift
done
host=$2
shift 2
case $step:$* in
facts:*"cat >"*) step=copy ;;
facts:*--describe*) step=describe ;;
facts:*--calibrate*) step=calibrate ;;
facts:*--fd*) step=measure ;;
esac
export TMPDIR="$HOSTS/$host" CLONOMETER_HOST_LOCK="$HOSTS/$host/lock"
mkdir -p "$TMPDIR"
case $step:$host in
identity:* | "$step:$step".*) exec @python@ -S -E @lies@ "$step" "$host" "$*" ;;
esac
exec /bin/sh -c "$*"
"""


def ssh() -> str:
    """The program that plays ssh."""
    return SSH.replace("@python@", shlex.quote(sys.executable)).replace("@lies@", shlex.quote(__file__))


def main(step: str, host: str, command: str) -> None:
    """Lie at this step if the host does; else say who it is, with a boot id of its own."""
    lies_at, _, lie = host.partition(".")
    if step == lies_at:
        LIES[step][lie]()
        return
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    say(re.sub(rb"\A[0-9a-f-]{36}", _boot_of(host), ended.stdout))


if __name__ == "__main__":
    main(*sys.argv[1:])
