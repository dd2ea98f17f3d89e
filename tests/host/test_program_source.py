"""Source is read only where it is what the program was made of."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from clonometer.host.target.program_source import read_source

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
