"""Files are written whole or not at all, under names that nobody can guess, and never through a link."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from clonometer.errors import InputError, OutputError
from clonometer.files import (
    NewFile,
    reading_unreserved,
    refuse_if_reserved,
    reserve,
    take_away,
    write_text,
    writing,
)


def test_appears_whole_with_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    before = os.umask(0o027)
    try:
        with writing(path, durable=True) as new:
            new.file.write(b"new")
            assert path.read_text() == "old"
            assert new.temporary.parent == tmp_path
    finally:
        os.umask(before)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_name_is_never_the_same(tmp_path: Path) -> None:
    names = set()
    for _ in range(20):
        with writing(tmp_path / "a") as new:
            names.add(new.temporary.name)
    assert len(names) == 20


def _write_half(new: NewFile, error: type[BaseException]) -> None:
    new.file.write(b"half")
    raise error


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_of_what_was_given_up(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), writing(tmp_path / "a") as new:
        _write_half(new, error)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_while_it_is_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = os.open

    def interrupted(*arguments: Any) -> int:
        os.close(make(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr("os.open", interrupted)
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "a"):
        pass
    assert not list(tmp_path.iterdir())


def test_neither_a_link_that_waits_nor_one_at_the_name_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, path = tmp_path / "victim", tmp_path / "a"
    victim.write_text("precious")
    path.symlink_to(victim)
    with writing(path) as new:
        new.file.write(b"mine")
    assert path.read_text() == "mine"
    assert not path.is_symlink()
    # Even whoever could guess the name gains nothing.
    monkeypatch.setattr("os.urandom", bytes)
    (tmp_path / f".clonometer-{'00' * 12}.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError), writing(path):
        pass
    assert victim.read_text() == "precious"


def test_a_reserved_file_is_neither_taken_nor_read_until_it_is_closed(tmp_path: Path) -> None:
    path, aside = tmp_path / "a", tmp_path / "b"
    descriptor = reserve(path)
    aside.touch()
    for refused in (
        lambda: reserve(path),
        lambda: reserve(path, replace=True),
        lambda: take_away(path),
        lambda: take_away(path, aside),
        # Not what would be replaced either.
        lambda: take_away(aside, path),
        lambda: refuse_if_reserved(path),
    ):
        with pytest.raises(OutputError, match="another run"):
            refused()
    with pytest.raises(InputError, match="still measuring"), reading_unreserved(path):
        pass
    os.close(descriptor)
    refuse_if_reserved(path)
    with reading_unreserved(path), pytest.raises(OutputError, match="another run"):
        reserve(path, replace=True)
    os.close(reserve(path, aside=aside))
    assert take_away(path)
    assert not take_away(path)


def test_of_many_that_reserve_one_name_at_once_one_gets_it(tmp_path: Path) -> None:
    """Each removes what it takes for the leftover of a killed run: never the file of another that has just begun."""
    path, won, lost = tmp_path / "a", [], []
    gate = threading.Barrier(8)

    def try_it() -> None:
        gate.wait()
        try:
            won.append(reserve(path, replace=True))
        except OutputError:
            lost.append(1)

    for _ in range(30):
        path.write_text("left by a killed run")
        threads = [threading.Thread(target=try_it) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(won), len(lost)) == (1, 7)
        for descriptor in won:
            assert os.path.samestat(os.fstat(descriptor), path.stat())
            os.close(descriptor)
        won.clear()
        lost.clear()


def test_where_there_are_no_locks_runs_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    os.close(reserve(tmp_path / "a"))
    assert take_away(tmp_path / "a")


def test_a_file_taken_away_before_it_was_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another takes the new and empty file for what a killed run left, in the moment before the lock."""
    path, lock, taken = tmp_path / "a", fcntl.flock, []

    def late(descriptor: int, kind: int) -> None:
        if not taken:
            taken.append(True)
            path.unlink()
        lock(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", late)
    descriptor = reserve(path)
    assert os.path.samestat(os.fstat(descriptor), path.stat())
    os.close(descriptor)


def test_who_made_a_file_may_read_it_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        os.close(reserve(tmp_path / "grows"))
        write_text(tmp_path / "whole", "x")
    finally:
        os.umask(before)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {
        "grows": 0o600,
        "whole": 0o600,
    }
