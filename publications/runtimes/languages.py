"""The languages, the ways in which each launches a command here, and how its program is built and started."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
#: Of the heap, in bytes, with the launches of each kind in a round.
SIZES = {0: 10, 100_000_000: 8, 1_000_000_000: 4, 4_000_000_000: 3}
#: Nobody, by whose id Ruby shows what other users than root pay.
_NOBODY = "65534"


@dataclass(frozen=True)
class Way:
    """One way to launch: the word for the program, and its line in the book of launch paths.

    ``options`` are words for the runtime, ``variables`` for its environment. ``title`` is for a way that is no call of
    the book by itself, and copies nothing.
    """

    word: str
    line: str
    heap: str = ""
    options: Sequence[str] = ()
    variables: Sequence[tuple[str, str]] = ()
    title: str = ""
    #: What the caller waits for: the exec, the call alone, or the program's end (and then nothing is foretold).
    until: str = "exec"

    @property
    def key(self) -> str:
        """What the data file calls it."""
        return f"{self.word}, {self.heap}" if self.heap else self.word


@dataclass(frozen=True)
class Language:
    """A language as the book calls it: ``build`` and ``run`` are commands with {options}, {most}, {out}."""

    name: str
    title: str
    program: str
    version: Sequence[str]
    run: Sequence[str]
    ways: Sequence[Way]
    watch: str
    build: Sequence[str] = ()
    #: Whether the figure of a launch is until the call returns: the event loop stands still for as long.
    by_call: bool = False

    def missing(self) -> bool:
        """Whether this machine lacks it."""
        return shutil.which(self.program) is None

    def built(self, folder: Path) -> None:
        """Build its program in a folder.

        Raises
        ------
        subprocess.CalledProcessError
            If the toolchain fails.
        """
        if self.build:
            subprocess.run(filled(self.build, folder), check=True, stdout=sys.stderr)

    def command(self, way: Way, size: int, folder: Path) -> list[str]:
        """The words that start its program with a heap."""
        most = f"{size // 1_000_000 * 3 // 2 + 512}"
        words = [way.options if word == "{options}" else [word.replace("{most}", most)] for word in self.run]
        flat = [each for group in words for each in group]
        return [*filled(flat, folder), str(size)]


def filled(words: Sequence[str], folder: Path) -> list[str]:
    """Words with the folders in them."""
    return [word.replace("{out}", str(folder)).replace("{programs}", str(PROGRAMS)) for word in words]


_BUFFER = (("HEAP", "buffer"),)
_MECHANISM = "-Djdk.lang.Process.launchMechanism="
LANGUAGES = (
    Language(
        "python",
        "Python",
        sys.executable,
        [sys.executable, "-c", "import platform; print(platform.python_version())"],
        [sys.executable, "{programs}/heap.py"],
        [
            Way("subprocess", "subprocess"),
            Way("posix_spawn", "os.posix_spawn"),
            Way("preexec_fn", "preexec_fn"),
            Way("fork", "os.fork-exec", until="call"),
        ],
        "Reading an object writes its reference count. A program that only looks at its data pays for a written heap.",
    ),
    Language(
        "node",
        "Node.js",
        "node",
        ["node", "--version"],
        ["node", "--max-old-space-size={most}", "{programs}/heap.js"],
        [
            Way("spawn", "spawn", "objects"),
            Way("spawnSync", "spawnSync", "objects", until="end"),
            Way("spawn", "spawn", "a Buffer", variables=_BUFFER),
            Way("spawnSync", "spawnSync", "a Buffer", variables=_BUFFER, until="end"),
            Way(
                "launcher",
                "fork",
                "a Buffer",
                variables=_BUFFER,
                title="a launcher, asked by a message (its own memory is copied)",
                until="end",
            ),
        ],
        "Times are until the call returns: the event loop stands still for as long. `spawnSync` waits for the "
        "program's end too. The launcher is a small process, made before the heap, that is asked to launch; its loop "
        "waits, not this one.",
        by_call=True,
    ),
    Language(
        "java",
        "Java",
        "javac",
        ["java", "--version"],
        ["java", "-Xmx{most}m", "{options}", "-cp", "{out}", "Heap"],
        [
            Way("start", "start"),
            Way("VFORK", "vfork", options=[f"{_MECHANISM}VFORK"]),
            Way("FORK", "fork", options=[f"{_MECHANISM}FORK"]),
        ],
        "The default launches by a helper that is executed first, whatever the heap. The option FORK copies memory.",
        build=["javac", "-d", "{out}", "{programs}/Heap.java"],
    ),
    Language(
        "go",
        "Go",
        "go",
        ["go", "version"],
        ["{out}/heap_go"],
        [Way("command", "command"), Way("newuser", "newuser")],
        "Only a child in a new user namespace copies memory.",
        build=["go", "build", "-o", "{out}/heap_go", "{programs}/heap.go"],
    ),
    Language(
        "rust",
        "Rust",
        "rustc",
        ["rustc", "--version"],
        ["{out}/heap_rs"],
        [Way("command", "command"), Way("pre_exec", "pre_exec")],
        "A closure for pre_exec, even an empty one, makes the standard library fork.",
        build=["rustc", "-O", "-o", "{out}/heap_rs", "{programs}/heap.rs"],
    ),
    Language(
        "ruby",
        "Ruby",
        "ruby",
        ["ruby", "--version"],
        ["ruby", "{programs}/heap.rb"],
        [
            Way("spawn", "system-root", "objects"),
            Way("fork", "fork-exec", "objects", until="call"),
            Way(
                "spawn",
                "system",
                "objects, not root",
                variables=[("HEAP_USER", _NOBODY)],
                title="system, spawn, as another user than root",
            ),
        ],
        "As root every launch copies memory, also in a container. As another user only `fork` and what is built on it "
        "do. The collector keeps its marks outside the objects, so that a collection alone does not write to them.",
    ),
    Language(
        "perl",
        "Perl",
        "perl",
        ["perl", "-e", "print substr($^V, 1)"],
        ["perl", "{programs}/heap.pl"],
        [Way("system", "system", until="end"), Way("fork", "fork-exec", until="call")],
        "Nothing in Perl's core launches without a copy of the memory. A thread copies it too, value by value, which "
        "takes longer than a fork does: `clonometer run perl.os_thread --set parent_bytes=128MiB` measures that.",
    ),
)
