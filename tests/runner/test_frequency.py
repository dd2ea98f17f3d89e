"""What the runner makes of what a guardian says; the real one is tried in tests/integration/test_frequency.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clonometer.errors import UnavailableError
from clonometer.runner import frequency


def guardian(folder: Path, body: str) -> Path:
    path = folder / "guardian"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(0o755)
    return path


READY = "print('ready', flush=True); sys.stdin.read()\n"


def test_it_is_told_what_to_set_and_ends_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONOMETER_SYS", str(tmp_path))
    monkeypatch.setattr(frequency.os, "sched_getaffinity", lambda _: {3, 0, 1})
    words = tmp_path / "told"
    program = guardian(tmp_path, f"open({str(words)!r}, 'w').write(' '.join(sys.argv[1:]))\n{READY}print('restored')")
    with frequency.fixed_frequency(program, "1.5GHz"):
        assert words.read_text() == f"1500000 0,1,3 {tmp_path} {tmp_path}/run/clonometer"


def test_a_refusal_is_a_reason(tmp_path: Path) -> None:
    program = guardian(tmp_path, "print('refused: no such thing'); sys.exit(3)")
    with (
        pytest.raises(UnavailableError, match="frequency=base: no such thing"),
        frequency.fixed_frequency(program, "base"),
    ):
        pytest.fail("the block must not begin")


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("sys.stderr.write('clonometer-guardian: x could not be set back'); sys.exit(1)", "x could not be set back"),
        ("sys.exit(9)", "ended with status 9"),
        ("pass", "ended with status 0"),
    ],
)
def test_an_end_without_the_word_restored_is_an_error(tmp_path: Path, ending: str, words: str) -> None:
    program = guardian(tmp_path, READY + ending)
    with pytest.raises(frequency.NotRestoredError, match=words), frequency.fixed_frequency(program, "base"):
        pass


def test_what_another_left_and_this_one_put_back_is_no_trouble(tmp_path: Path) -> None:
    program = guardian(tmp_path, READY + "sys.stderr.write('put back: x\\n'); print('restored')")
    with frequency.fixed_frequency(program, "base"):
        pass


def test_the_guardian_hears_the_end_of_a_block_that_raises(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    program = guardian(tmp_path, READY + f"open({str(heard)!r}, 'w')\nprint('restored')")
    with pytest.raises(KeyError), frequency.fixed_frequency(program, "base"):
        raise KeyError
    assert heard.exists()


@pytest.mark.parametrize("path", [None, Path("/nowhere/guardian")])
def test_no_guardian_no_frequency(path: Path | None) -> None:
    with (
        pytest.raises(UnavailableError, match=r"clonometer-guardian|cannot start"),
        frequency.fixed_frequency(path, "base"),
    ):
        pytest.fail("the block must not begin")
