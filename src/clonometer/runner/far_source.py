"""Host facts of another machine: what its /proc and /sys say, read through a shell there, many files at a time."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable
from pathlib import Path

from clonometer.host.source import FactUnavailable, Source

_Request = tuple[str, str]
# Bytes come as three characters each; more than a megabyte no fact has.
_MOST_CHARACTERS = 4 << 20

# Each answer is a line with a mark that nobody can guess, the status, and then what was asked for.
_ASK = r"""LC_ALL=C; export LC_ALL
ask() {
    content=
    case $1 in
    read) content=$(head -c 1048576 -- "$2" 2>&1 && echo .) ;;
    bytes) content=$(od -An -v -tx1 -- "$2" 2>&1 && echo .) ;;
    list) content=$(ls -A -- "$2" 2>&1 && echo .) ;;
    link) content=$(readlink -- "$2" 2>&1 && echo .) ;;
    exists) [ -e "$2" ] && content=. ;;
    libc) content=$(getconf GNU_LIBC_VERSION 2>&1 && echo .) ;;
    esac
    printf '%s %s\n%s\n' @mark@ $? "$content"
}
"""


class FarSource(Source):
    """Files of another machine.

    What was not requested yet is missing at first, and noted: `fetch_missing` asks for all of it at once, and the facts
    are read again, until nothing is missing. ``run_script`` runs a shell script on that machine and gives its output.
    """

    def __init__(self, run_script: Callable[[bytes], bytes]) -> None:
        super().__init__(Path("/"))
        self.live = False
        self._run_script = run_script
        self._answers: dict[_Request, str | FactUnavailable] = {}
        self._missing: dict[_Request, None] = {}

    def fetch_missing(self) -> bool:
        """Ask for what was missing; whether there was any."""
        asked, self._missing = list(self._missing), {}
        if not asked:
            return False
        # Facts are kept by path, also that there are none.
        self._texts.clear()
        mark = secrets.token_hex(16)
        lines = "".join(f"ask {kind} {shlex.quote(path)}\n" for kind, path in asked)
        output = self._run_script((_ASK.replace("@mark@", mark) + lines).encode("utf-8", "surrogateescape"))
        parts = output.decode("utf-8", "replace").split(f"{mark} ")[1:]
        for request, part in zip(asked, parts, strict=False):
            status, _, content = part.partition("\n")
            self._answers[request] = _understood(request, status == "0", content)
        for request in asked[len(parts) :]:
            self._answers[request] = FactUnavailable(f"{request[1]}: the host did not answer")
        return True

    def _ask(self, kind: str, path: str) -> str:
        answer = self._answers.get((kind, path))
        if answer is None:
            self._missing[kind, path] = None
            raise FactUnavailable(f"{path}: not requested yet")
        if isinstance(answer, FactUnavailable):
            raise FactUnavailable(str(answer))
        return answer

    def _read(self, path: str) -> str | FactUnavailable:
        try:
            return self._ask("read", path).strip("\x00 \t\r\n")
        except FactUnavailable as lack:
            return lack

    def bytes(self, path: str) -> bytes:
        """Content of a file as bytes; Lack if it cannot be read."""
        # As hexadecimal digits: a shell's variables hold no zero bytes.
        try:
            return bytes.fromhex(self._ask("bytes", path))
        except ValueError:
            raise FactUnavailable(f"{path}: the host sent no bytes") from None

    def names(self, path: str, prefix: str = "") -> list[str]:
        """Sorted names in a folder that begin with a prefix; Lack if it cannot be read."""
        return sorted(name for name in self._ask("list", path).splitlines() if name.startswith(prefix))

    def exists(self, path: str) -> bool:
        """Whether something is there."""
        try:
            self._ask("exists", path)
        except FactUnavailable:
            return False
        return True

    def link(self, path: str) -> str:
        """Target of a symbolic link; Lack if it cannot be read."""
        return self._ask("link", path).strip("\n")

    def libc(self) -> str:
        """Name and version of the C library as it says itself; empty where it does not."""
        try:
            return self._ask("libc", "getconf").strip()
        except FactUnavailable:
            return ""


def _understood(request: _Request, is_there: bool, content: str) -> str | FactUnavailable:
    if len(content) > _MOST_CHARACTERS:
        return FactUnavailable(f"{request[1]}: the host sent too much")
    if is_there:
        # The dot kept the shell from dropping the last lines' ends.
        return content.removesuffix("\n").removesuffix(".")
    why = content.strip().splitlines()
    return FactUnavailable(f"{request[1]}: {why[-1].rpartition(': ')[2][:200] if why else 'No such file or directory'}")
