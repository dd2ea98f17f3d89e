"""What a killed measurement has left changed is put back by the next start: noted first, by its owner, on this boot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clonometer.errors import SettingError
from clonometer.plan.sides import Side
from clonometer.runner import saved_settings
from clonometer.runner.leftovers import note
from clonometer.runner.putting_back import put_back_left
from clonometer.runner.saved_settings import SavedSetting, saved_folder
from clonometer.runner.settings import Switch

SWITCH = """
import os, sys
from clonometer.plan.sides import Side
from clonometer.runner.settings import Switch

switch = Switch(Side("b", do=sys.argv[1], undo=sys.argv[2]))
switch.do(None)
print("done", flush=True)
sys.stdin.read()
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where we are, with a setting of 4; what is noted is noted below it."""
    monkeypatch.setenv("CLONOMETER_SYS", str(tmp_path / "sys"))
    monkeypatch.chdir(tmp_path)
    Path("setting").write_text("4\n")
    return tmp_path


def notes() -> list[Path]:
    return sorted(saved_folder().iterdir())


def note_of(path: Path) -> dict[str, object]:
    return dict(json.loads(path.read_text().splitlines()[0]))


@contextmanager
def switching(do: str, undo: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has switched a setting, and kills itself at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", SWITCH, do, undo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        yield process
    assert process.returncode == -9


def kill_switched(do: str = "echo 5 > setting", undo: str = "echo 4 > setting") -> None:
    with switching(do, undo):
        pass


def test_a_setting_is_put_back_where_it_was_changed_and_that_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_switched()
    assert Path("setting").read_text() == "5\n"
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    [sentence] = put_back_left()
    assert sentence.startswith("put back: what --b do='echo 5 > setting' changed")
    assert "setting was 4, and is again" in sentence
    assert (folder / "setting").read_text() == "4\n"
    assert not Path("setting").exists()
    assert notes() == []
    assert put_back_left() == []


def test_what_a_living_process_has_changed_is_left_alone() -> None:
    with switching("echo 5 > setting", "echo 4 > setting"):
        assert len(notes()) == 1
        assert put_back_left() == []
        assert Path("setting").read_text() == "5\n"
        assert notes()[0].stat().st_mode & 0o777 == 0o600
        assert saved_folder().stat().st_mode & 0o777 == 0o700
    assert len(put_back_left()) == 1
    assert Path("setting").read_text() == "4\n"


def test_it_is_noted_before_it_is_changed_and_no_longer_than_it_lasts() -> None:
    folder = saved_folder()
    switch = Switch(Side("b", do=f"ls {folder} > listed; echo 5 > setting", undo="rm listed; echo 4 > setting"))
    switch.do(None)
    assert Path("listed").read_text().split() == [path.name for path in notes()]
    switch.undo()
    assert notes() == []


def test_what_cannot_be_noted_is_not_changed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "sys/run").mkdir(parents=True)
    (folder / "sys/run/clonometer").write_text("")
    monkeypatch.setattr(saved_settings, "user_folder", lambda *_: None)
    switch = Switch(Side("b", do="echo 5 > setting", undo="touch undone"))
    with pytest.raises(SettingError, match="was not run: what must be put back cannot be noted"):
        switch.do(None)
    switch.undo()
    assert Path("setting").read_text() == "4\n"
    assert not Path("undone").exists()


def test_values_of_another_boot_are_discarded_and_that_is_said() -> None:
    kill_switched()
    text = notes()[0].read_text()
    notes()[0].write_text(text.replace(saved_settings.boot_id(), "00000000-0000-0000-0000-000000000000"))
    [sentence] = put_back_left()
    assert sentence.startswith("discarded, since this machine was restarted: ")
    assert "undone by: echo 4 > setting" in sentence
    assert Path("setting").read_text() == "5\n"
    assert notes() == []


def put_back_by_hand() -> str | None:
    Path("setting").write_text("4\n")
    return None


def changed_again() -> str | None:
    Path("setting").write_text("6\n")
    return "left alone, since somebody has changed it again: "


@pytest.mark.parametrize("meanwhile", [put_back_by_hand, changed_again])
def test_what_somebody_set_after_that_stays(meanwhile: Callable[[], str | None]) -> None:
    kill_switched()
    begins, value = meanwhile(), Path("setting").read_text()
    sentences = put_back_left()
    assert [sentence[: len(begins or "")] for sentence in sentences] == ([] if begins is None else [begins])
    assert Path("setting").read_text() == value
    assert notes() == []


def test_what_was_killed_while_it_switched_is_put_back_too() -> None:
    kill_switched()
    text = notes()[0].read_text()
    notes()[0].write_text(text.splitlines()[0] + '\n{"during": {"setti')
    assert put_back_left()[0].startswith("put back: ")
    assert Path("setting").read_text() == "4\n"


def test_an_undo_that_fails_is_said_at_each_start_until_all_is_back() -> None:
    kill_switched(undo="exit 3")
    for _ in range(2):
        [sentence] = put_back_left()
        assert sentence.startswith("NOT PUT BACK: ")
        assert "setting was 4" in sentence
    Path("setting").write_text("4\n")
    assert put_back_left() == []
    assert notes() == []


def test_what_cannot_be_read_back_is_said_once_and_not_undone_blindly() -> None:
    kill_switched("true", "touch undone")
    [sentence] = put_back_left()
    assert sentence.startswith("perhaps still there, since it cannot be read back: ")
    assert "undone by: touch undone" in sentence
    assert not Path("undone").exists()
    assert put_back_left() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda note: [],
        lambda note: {**note, "schema": 2},
        lambda note: {**note, "boot": 5},
        lambda note: {**note, "undo": ["touch", "undone"]},
        lambda note: {**note, "before": {"setting": 4}},
        lambda note: {**note, "before": [["setting", "4"]]},
        lambda note: {key: note[key] for key in note if key != "folder"},
    ],
)
def test_a_note_that_is_none_runs_nothing_and_stays(change: Callable[[dict[str, object]], object]) -> None:
    kill_switched(undo="touch undone")
    [path] = notes()
    path.write_text(text := json.dumps(change(note_of(path))) + "\n")
    assert put_back_left() == [f"{path} is not what Clonometer wrote: look at it, and remove it"]
    assert not Path("undone").exists()
    assert path.read_text() == text


@pytest.mark.parametrize("text", [b"\xff\x00\n", b"[" * 5000 + b"\n", b"9" * 5000 + b"\n", b"null\n{}\n"])
def test_a_note_of_anything_is_read_safely(text: bytes) -> None:
    path = saved_folder() / "setting-x"
    path.write_bytes(text)
    assert put_back_left() == [f"{path} is not what Clonometer wrote: look at it, and remove it"]


def link_elsewhere(path: Path) -> None:
    path.rename("elsewhere")
    path.symlink_to(Path("elsewhere").absolute())


def let_others_write(path: Path) -> None:
    path.chmod(0o666)


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 65534, 65534)


@pytest.mark.parametrize("plant", [link_elsewhere, let_others_write, give_away])
def test_a_note_that_another_may_have_written_runs_nothing(plant: Callable[[Path], None]) -> None:
    kill_switched(undo="touch undone")
    [path] = notes()
    plant(path)
    assert put_back_left() == [f"{path} is not what Clonometer wrote: look at it, and remove it"]
    assert not Path("undone").exists()


def test_a_folder_that_others_may_write_to_is_not_read() -> None:
    kill_switched(undo="touch undone")
    saved_folder().chmod(0o777)
    assert put_back_left() == []
    assert not Path("undone").exists()


def test_what_was_killed_before_its_note_was_whole_had_changed_nothing() -> None:
    (saved_folder() / "setting-x").write_text('{"schema": 1, "boo')
    (saved_folder() / "setting-y").write_text("")
    assert put_back_left() == []
    assert notes() == []


def test_a_directory_that_nobody_lives_to_remove_is_removed(folder: Path) -> None:
    kept = folder / "clonometer-a1b2C3"
    kept.mkdir()
    (kept / "file").write_text("x")
    noted = note(str(kept), [str(folder)])
    assert noted is not None
    assert put_back_left() == []
    assert kept.exists()
    noted.leave()
    assert put_back_left() == [f"removed: {kept}, left by a measurement that was killed"]
    assert not kept.exists()
    assert notes() == []


def test_only_directories_of_ours_are_noted_and_removed(folder: Path) -> None:
    (folder / "theirs").mkdir()
    assert note(str(folder / "theirs"), [str(folder)]) is None
    SavedSetting({"directory": str(folder / "theirs")}).leave()
    SavedSetting({"directory": str(folder / "clonometer-gone12")}).leave()
    SavedSetting({"directory": 5}).leave()
    sentences = put_back_left()
    assert sorted(sentence.split(":")[0] for sentence in sentences)[1:] == ["left alone, since it is not ours"]
    assert len(sentences) == 2
    assert (folder / "theirs").exists()


def test_words_of_a_note_cannot_act_on_a_terminal() -> None:
    kill_switched(undo="printf '\\033]0;x\\007' \x1b]0;pwn\x07\nexit 3")
    [sentence] = put_back_left()
    assert sentence.isprintable()


def test_without_the_guardian_left_frequencies_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(folder))
    (saved_folder() / "frequency").write_text("x")
    assert put_back_left()[0].startswith(f"NOT PUT BACK: {saved_folder() / 'frequency'}")
