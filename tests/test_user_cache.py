from __future__ import annotations

import os
from pathlib import Path

import pytest

from clonometer.user_cache import kept_text


class Maker:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        return f"text µ {self.calls}\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a" / "cache"))
    return tmp_path / "a" / "cache" / "clonometer"


def test_a_text_is_made_once_a_name(cache: Path) -> None:
    make = Maker()
    assert [kept_text(name, make) for name in ("one", "one", "two")] == ["text µ 1\n", "text µ 1\n", "text µ 2\n"]
    assert [path.stat().st_mode & 0o777 for path in (cache, cache / "one")] == [0o700, 0o600]


def replace_by_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b"\xff"),
        lambda path: path.chmod(0o660),
        replace_by_link,
    ],
    ids=["cut", "not text", "others may write", "a link"],
)
def test_what_may_be_another_text_is_made_anew_and_replaced(cache: Path, damage: object) -> None:
    make = Maker()
    kept_text("one", make)
    damage(cache / "one")  # type: ignore[operator]
    assert [kept_text("one", make) for _ in range(2)] == ["text µ 2\n"] * 2


def test_a_folder_that_others_may_write_to_keeps_nothing(cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    make = Maker()
    assert [kept_text("one", make) for _ in range(2)] == ["text µ 1\n", "text µ 2\n"]
    assert not list(cache.iterdir())


def test_under_the_home_of_another_user_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert kept_text("one", Maker()) == "text µ 1\n"
    assert not list(tmp_path.iterdir())


def test_a_name_that_cannot_be_written_costs_nothing_but_time(cache: Path) -> None:
    make = Maker()
    assert [kept_text("no/folder", make) for _ in range(2)] == ["text µ 1\n", "text µ 2\n"]
