"""A name that strangers give is opened only where it is a regular file at that moment, within their root."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import tempfile
import threading
import time
from pathlib import Path

import pytest

from clonometer.host import strangers
from clonometer.host.source import FactUnavailable, Source
from clonometer.host.strangers import open_named
from clonometer.host.target.program_source import read_source

SWAPS = 2000


class Refusing:
    """A C library whose kernel lacks a call, or whose filter refuses it."""

    def __init__(self, error: int) -> None:
        self.error = error

    def syscall(self, *_: object) -> int:
        ctypes.set_errno(self.error)
        return -1


@pytest.fixture(params=[0, errno.ENOSYS, errno.EPERM], ids=["openat2", "missing", "refused"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(strangers, "_libc", lambda: Refusing(request.param))


def content(file: str, root: Path) -> bytes:
    descriptor = open_named(file, str(root))
    with os.fdopen(descriptor, "rb") as opened:
        assert not os.get_inheritable(descriptor)
        return opened.read()


@pytest.mark.usefixtures("how")
def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to-pipe").symlink_to("pipe")
    assert content("/file", tmp_path) == content("/link", tmp_path) == b"x"
    for name in ("/pipe", "/to-pipe", "/", "/none"):
        with pytest.raises(OSError, match=r"not a regular file|No such file"):
            open_named(name, str(tmp_path))
    with pytest.raises(OSError, match="not a regular file"):
        open_named("/dev/null")
    with pytest.raises(ValueError, match="no name"):
        open_named("/file\0more", str(tmp_path))


def test_links_do_not_leave_the_root(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"its own")
    (tmp_path / "absolute").symlink_to("/file")
    (tmp_path / "above").symlink_to("../../../../../../../../etc/passwd")
    try:
        assert content("/absolute", tmp_path) == b"its own"
    except FileNotFoundError:
        pytest.skip("this kernel has no openat2, or a filter refuses it")
    with pytest.raises(FileNotFoundError):
        open_named("/above", str(tmp_path))


@pytest.mark.usefixtures("how")
def test_what_takes_the_name_meanwhile_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "swapped").write_bytes(b"x")
    over = threading.Event()
    readers = 0

    def swap() -> None:
        nonlocal readers
        made = tmp_path / "made"
        while not over.is_set():
            made.symlink_to("pipe")
            made.rename(tmp_path / "swapped")
            with contextlib.suppress(OSError):
                # Refused while nobody reads it.
                os.close(os.open(tmp_path / "pipe", os.O_WRONLY | os.O_NONBLOCK))
                readers += 1
            made.hardlink_to(tmp_path / "file")
            made.rename(tmp_path / "swapped")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(SWAPS):
            try:
                descriptor = open_named("/swapped", str(tmp_path))
            except OSError:
                continue
            assert stat.S_ISREG(os.fstat(descriptor).st_mode)
            os.close(descriptor)
    finally:
        over.set()
        swapper.join()
    assert readers == 0


def test_a_pipe_in_a_made_tree_is_no_fact(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fact")
    with pytest.raises(FactUnavailable, match="not a regular file"):
        Source(tmp_path).text("/fact")


LATER = time.time_ns() + 3600 * 10**9


def test_a_text_is_read_unless_it_has_changed_since(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("run()\n")
    changed_ns = file.stat().st_mtime_ns
    assert read_source(str(file), changed_ns, os.geteuid()) == "run()\n"
    assert read_source(str(file), changed_ns - 1, os.geteuid()) is None


def test_what_is_no_text_of_a_program_is_not_read(tmp_path: Path) -> None:
    binary, large, fifo = tmp_path / "binary", tmp_path / "large", tmp_path / "fifo"
    binary.write_bytes(b"a\0b")
    with large.open("wb") as stream:
        stream.truncate(2 << 20)
    os.mkfifo(fifo)
    for file in (binary, large, fifo, tmp_path, tmp_path / "none", Path("/dev/zero")):
        assert read_source(str(file), LATER, os.geteuid()) is None
    assert read_source("a.py", LATER, os.geteuid()) is None
    assert read_source("a\0b", LATER, os.geteuid()) is None


def test_nothing_is_read_for_a_user_who_may_not_read_it() -> None:
    """A program names a file, and gets no more of it than it could read itself."""
    stranger = os.geteuid() + 4711
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        file = folder / "a.py"
        file.write_text("run()\n")
        for folder_mode, file_mode, readable in ((0o711, 0o644, True), (0o711, 0o640, False), (0o700, 0o644, False)):
            folder.chmod(folder_mode)
            file.chmod(file_mode)
            read_source.cache_clear()
            assert read_source(str(file), LATER, os.geteuid()) == "run()\n"
            assert (read_source(str(file), LATER, stranger) is not None) is readable
    finally:
        shutil.rmtree(folder)
