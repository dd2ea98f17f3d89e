from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.model.synthetic import calibration

from clonometer.errors import InputError, OutputError
from clonometer.model.store import (
    age_days,
    check_machine,
    default_path,
    is_old,
    machine_of,
    read_calibration,
    save_calibration,
)
from clonometer.records import to_json


def test_what_is_kept_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = default_path()
    assert read_calibration(path) is None
    save_calibration(calibration(), path)
    assert path == tmp_path / "data" / "clonometer" / "calibration.json"
    assert to_json(read_calibration(path)) == to_json(calibration())


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "clonometer").mkdir()
    (tmp_path / "clonometer").chmod(0o777)
    with pytest.raises(OutputError, match="data folder"):
        default_path()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "list"),
        (b'{"schema": 3}', "missing"),
        (b'{"schema": 0}', "its schema is 0"),
        (b'{"schema": "2"}', "its schema is '2'"),
        (b'{"schema": true}', "True"),
        (b'{"schema": 99}', "schema is 99"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a calibration") as error:
        read_calibration(path)
    assert words in error.value.message


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_earlier_version_is_called_that_with_the_command_that_renews_it(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({**to_json(calibration()), "schema": version}))
    with pytest.raises(InputError, match="written by an earlier Clonometer") as error:
        read_calibration(path)
    assert "run 'clonometer calibrate'" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("models", "exit", "each_ns"), [1.0], "coefficients"),
        (("models", "exit", "knots"), [5.0, 5.0], "do not increase"),
        (("models", "exit", "draws_ns"), [[-1.0] * 15], "less than 0"),
        (("models", "exit"), None, "exit"),
        (("made_at",), -5, "less than 0"),
    ],
)
def test_a_calibration_that_contradicts_itself_is_refused(
    tmp_path: Path, place: tuple[str, ...], value: object, words: str
) -> None:
    content = to_json(calibration())
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    if value is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=re.escape(words)):
        read_calibration(path)


def test_a_term_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    content = to_json(calibration())
    next(iter(content["models"].values()))["terms"][0] = "invented"
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="has an unknown term 'invented'"):
        read_calibration(path)


def test_another_machine_is_refused_and_said() -> None:
    facts = {"cpu.model": "Invented", "cpu.online": 2, "kernel.release": "6.1"}
    made = calibration(machine=machine_of(facts))
    check_machine(made, machine_of(facts))
    with pytest.raises(InputError, match=r"kernel\.release was 6\.1 and is 6\.2") as error:
        check_machine(made, machine_of({**facts, "kernel.release": "6.2"}))
    assert "cpu.model" not in error.value.message


def test_age() -> None:
    made = calibration()
    assert age_days(made, made.made_at + 86_400 * 3) == 3
    assert age_days(made, made.made_at - 5) == 0
    assert not is_old(made, made.made_at + 86_400 * 29)
    assert is_old(replace(made, made_at=0), 86_400 * 31)
