"""Reserving huge pages: what is set on a made /proc, and that it comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import huge_pages


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "proc/sys/vm").mkdir(parents=True)
    (tmp_path / "proc/sys/vm/nr_hugepages").write_text("3\n")
    meminfo(tmp_path, free=19)
    return tmp_path


def meminfo(root: Path, free: int, kib: int = 2048) -> None:
    text = f"MemTotal: 1 kB\nHugePages_Free: {free}\nHugePages_Rsvd: 0\nHugepagesize: {kib} kB\n"
    (root / "proc/meminfo").write_text(text)


def setting(root: Path) -> int:
    return int((root / "proc/sys/vm/nr_hugepages").read_text())


def test_they_are_there_within_the_block_and_not_after_it(root: Path) -> None:
    with huge_pages.reserved(16, root) as free:
        assert (free, setting(root)) == (19, 19)
    assert setting(root) == 3


def test_they_go_when_the_block_raises(root: Path) -> None:
    with pytest.raises(KeyError), huge_pages.reserved(16, root):
        raise KeyError
    assert setting(root) == 3


@pytest.mark.parametrize(
    ("free", "kib", "words"),
    [(2, 2048, "only 2 of 16"), (19, 1 << 20, "too much"), (19, 0, "no reserved huge pages")],
)
def test_where_they_cannot_be_had_nothing_stays_changed(root: Path, free: int, kib: int, words: str) -> None:
    meminfo(root, free, kib)
    with pytest.raises(huge_pages.NotReservedError, match=words), huge_pages.reserved(16, root):
        pytest.fail("the block must not begin")
    assert setting(root) == 3


def test_who_may_not_is_told(root: Path) -> None:
    (root / "proc/sys/vm/nr_hugepages").unlink()
    with pytest.raises(huge_pages.NotReservedError, match="nr_hugepages: No such file"), huge_pages.reserved(1, root):
        pytest.fail("the block must not begin")
