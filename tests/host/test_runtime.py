"""The runtime of a process is read from its files: made trees of files, and running processes of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clonometer.host.source import FactUnavailable, Source
from clonometer.host.target.runtime import Runtime, read_program, read_runtime

PID = 41
REAL = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="/proc is not mounted, or not for this user")
LIBC = "/lib/libc.so.6"


def made(root: Path, program: str, files: dict[str, bytes]) -> Source:
    """A process that executes code of these files; the first is at the lowest address."""
    folder = root / "proc" / str(PID)
    folder.mkdir(parents=True)
    (folder / "exe").symlink_to(program)
    lines = []
    for index, (name, content) in enumerate(files.items()):
        lines.append(f"{index:x}000-{index:x}fff r-xp 00000000 08:01 {index + 9} {name}")
        place = folder / "root" / name.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"\x7fELF" + content)
    (folder / "maps").write_text("\n".join([*lines, "7000-8000 rw-p 00000000 00:00 0 [heap]"]) + "\n")
    return Source(root)


def go_header(version: str, flags: int = 2) -> bytes:
    """As debug/buildinfo reads it: magic, size of a pointer, flags, 16 unused bytes, length and string."""
    return b"pad\xff Go buildinf:" + bytes([8, flags]) + bytes(16) + bytes([len(version)]) + version.encode() + b"rest"


GNU = b"GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"
CASES = {
    "python": ("/usr/bin/python3.12", {"/usr/bin/python3.12": b"\0" + b"3.12.4\0", LIBC: GNU}, "python", "3.12.4"),
    "python whose library does not say more than its name": (
        "/opt/py/bin/python3.11",
        {"/opt/py/bin/python3.11": b"", "/opt/py/lib/libpython3.11.so.1.0": b"3.11.7", LIBC: GNU},
        "python",
        "3.11",
    ),
    "node": ("/usr/bin/node", {"/usr/bin/node": b"\0node.js/v20.20.2\0", LIBC: GNU}, "node", "20.20.2"),
    "ruby, told by its library": (
        "/usr/bin/ruby3.1",
        {"/usr/bin/ruby3.1": b"", "/usr/lib/libruby-3.1.so.3.1.2": b"ruby 3.1.2p20 (2022-04-12)"},
        "ruby",
        "3.1.2",
    ),
    "perl": ("/usr/bin/perl", {"/usr/bin/perl": b"\0v5.36.0\0"}, "perl", "5.36.0"),
    "php": ("/usr/sbin/php-fpm8.2", {"/usr/sbin/php-fpm8.2": b"X-Powered-By: PHP/8.2.36\0"}, "php", "8.2.36"),
    "bash": ("/bin/bash", {"/bin/bash": b"@(#)Bash version 5.2.15(1) release GNU"}, "bash", "5.2.15"),
    "dash has no version": ("/bin/dash", {"/bin/dash": b"", LIBC: GNU}, "dash", None),
    "make": ("/usr/bin/make", {"/usr/bin/make": b"\x004.3\0"}, "make", "4.3"),
    "go": ("/srv/server", {"/srv/server": go_header("go1.22.1")}, "go", "1.22.1"),
    "go before 1.18": ("/srv/server", {"/srv/server": go_header("go1.17", flags=0)}, "go", None),
    "go with a length beyond the end": ("/srv/server", {"/srv/server": b"\xff Go buildinf:\x08\x02"}, "go", None),
    "rust": ("/srv/tool", {"/srv/tool": b"\0rustc version 1.63.0 (4b91a6ea7)\0", LIBC: GNU}, "rust", "1.63.0"),
    "dotnet": (
        "/usr/share/dotnet/dotnet",
        {"/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.11/libcoreclr.so": b"", LIBC: GNU},
        "dotnet",
        "8.0.11",
    ),
    "a program in C": ("/usr/bin/redis-server", {"/usr/bin/redis-server": b"\0v20.1.1\0", LIBC: GNU}, "glibc", "2.36"),
    "musl": ("/app", {"/lib/ld-musl-x86_64.so.1": b"\x001.2.4\0"}, "musl", "1.2.4"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_runtime_and_its_version_are_read_from_its_files(tmp_path: Path, name: str) -> None:
    program, files, runtime, version = CASES[name]
    seen = read_runtime(made(tmp_path, program, files), PID)
    assert (seen.name, seen.version) == (runtime, version)


def test_the_version_of_a_jvm_is_that_of_the_release_above_its_library(tmp_path: Path) -> None:
    library = "/usr/lib/jvm/17/lib/server/libjvm.so"
    source = made(tmp_path, "/usr/lib/jvm/17/bin/java", {library: b"", LIBC: GNU})
    assert read_runtime(source, PID) == Runtime("java", None, library)
    (tmp_path / f"proc/{PID}/root/usr/lib/jvm/17/release").write_text('IMPLEMENTOR="X"\nJAVA_VERSION="17.0.15"\n')
    assert read_runtime(Source(tmp_path), PID) == Runtime("java", "17.0.15", library)


def test_a_program_that_was_replaced_while_it_runs_is_read_through_its_link(tmp_path: Path) -> None:
    source = made(tmp_path, "/bin/bash (deleted)", {"/bin/bash": b"Bash version 9.9.9"})
    maps = tmp_path / f"proc/{PID}/maps"
    maps.write_text(maps.read_text().replace("/bin/bash", "/bin/bash (deleted)"))
    old = tmp_path / "old"
    old.write_bytes(b"Bash version 5.1.4(1)")
    (tmp_path / f"proc/{PID}/exe").unlink()
    (tmp_path / f"proc/{PID}/exe").symlink_to(old)
    assert read_runtime(source, PID).version == "5.1.4"


def test_a_fifo_with_the_name_of_a_runtime_is_not_waited_for(tmp_path: Path) -> None:
    source = made(tmp_path, "/bin/bash", {"/bin/bash": b"Bash version 5.2.15"})
    place = tmp_path / f"proc/{PID}/root/bin/bash"
    place.unlink()
    os.mkfifo(place)
    assert read_runtime(source, PID) == Runtime("bash", None, "/bin/bash")


def planted(root: Path, files: dict[str, bytes]) -> Source:
    for name, content in files.items():
        place = root / name.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return Source(root)


PROGRAMS = {
    "a link": ({"/usr/bin/python3.12": b"\x7fELF\x003.12.4\0"}, ("python", "3.12.4")),
    "a script": (
        {"/usr/bin/python3": b"#!/usr/bin/perl -w\nuse strict;", "/usr/bin/perl": b"\0v5.36.0\0"},
        ("perl", "5.36.0"),
    ),
    "musl": ({"/usr/bin/python3": b"\x7fELF/lib/ld-musl-x86_64.so.1\0"}, ("musl", None)),
    "a program in C": ({"/usr/bin/python3": b"\x7fELF\0libc.so.6\0"}, ("glibc", None)),
    "go": ({"/usr/bin/python3": go_header("go1.22.1")}, ("go", "1.22.1")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_runtime_of_a_program_that_has_ended_is_read_from_its_file(tmp_path: Path, name: str) -> None:
    files, expected = PROGRAMS[name]
    renamed = {"/srv/app" if file == "/usr/bin/python3" else file: content for file, content in files.items()}
    source = planted(tmp_path, renamed)
    if name == "a link":
        (tmp_path / "srv").mkdir()
        (tmp_path / "srv/app").symlink_to(tmp_path / "usr/bin/python3.12")
    runtime = read_program(source, "/srv/app")
    assert (runtime.name, runtime.version) == expected


@pytest.mark.parametrize("content", [None, b"\x7fELF static", b"#!/usr/bin/env python3\n", b"#!/gone\n", b""])
def test_a_program_of_which_nothing_is_known_has_a_reason(tmp_path: Path, content: bytes | None) -> None:
    source = planted(tmp_path, {} if content is None else {"/srv/app": content})
    with pytest.raises(FactUnavailable):
        read_program(source, "/srv/app")


def test_what_is_not_known_or_not_readable_has_a_reason(tmp_path: Path) -> None:
    source = made(tmp_path, "/init", {"/init": b"static"})
    with pytest.raises(FactUnavailable, match="no known runtime"):
        read_runtime(source, PID)
    with pytest.raises(FactUnavailable, match="maps"):
        read_runtime(source, 42)


@REAL
def test_this_process_runs_python_in_this_version() -> None:
    seen = read_runtime(Source(Path("/")), os.getpid())
    assert seen.name == "python"
    version = ".".join(map(str, sys.version_info[:3]))
    assert seen.version is not None
    assert version.startswith(seen.version)


@REAL
@pytest.mark.parametrize(
    ("runtime", "words", "asked"),
    [
        ("bash", ["bash", "-c", "read x"], ["bash", "-c", "echo ${BASH_VERSION%%(*}"]),
        ("perl", ["perl", "-e", "<STDIN>"], ["perl", "-e", "printf '%vd', $^V"]),
        ("node", ["node", "-e", "process.stdin.resume()"], ["node", "-p", "process.version.slice(1)"]),
        ("ruby", ["ruby", "-e", "gets"], ["ruby", "-e", "puts RUBY_VERSION"]),
        ("php", ["php", "-r", "fgets(STDIN);"], ["php", "-r", "echo PHP_VERSION;"]),
    ],
)
def test_a_running_runtime_is_told_in_the_version_that_it_says_itself(
    runtime: str, words: list[str], asked: list[str]
) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    version_said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            seen = None
            # Until it has executed the program, and its libraries are mapped.
            for _ in range(10_000):
                try:
                    seen = read_runtime(Source(Path("/")), process.pid)
                except FactUnavailable:
                    continue
                if seen.name == runtime and seen.version is not None:
                    break
            assert seen is not None
            assert seen.name == runtime
            assert seen.version is not None
            assert version_said.startswith(seen.version)
        finally:
            process.kill()
