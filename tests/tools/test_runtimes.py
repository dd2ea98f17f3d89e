"""What launches cost by the heap: the page is current, its data says where it is from, memory is read right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tools.runtimes import __main__ as command
from tools.runtimes.languages import LANGUAGES, SIZES, Language
from tools.runtimes.measuring import measured, memory_of, times_of
from tools.runtimes.pages import page

from clonometer.launch_paths.reading import load_book

MEASURED: dict[str, Any] = json.loads(command.MEASURED.read_text(encoding="utf-8"))


def test_the_page_is_current_with_its_data() -> None:
    assert command.PAGE.read_text(encoding="utf-8") == page(MEASURED)


def test_the_data_says_which_version_was_measured_when_and_where() -> None:
    assert {language.name for language in LANGUAGES} <= set(MEASURED)
    for name, part in MEASURED.items():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", part["date"]), name
        assert part["machine"], name
        assert part["load"] >= 0, name
        versions = [row["version"] for row in part["rows"]] if name == "servers" else [part["version"]]
        assert all(re.fullmatch(r"\d+(\.\d+)+", version) for version in versions), name


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_each_way_is_a_line_of_the_book_and_was_measured_with_each_heap(language: Language) -> None:
    part = MEASURED[language.name]
    lines = {line.name for line in load_book().runtime(language.name).of_version(part["version"])}
    assert {way.line for way in language.ways} <= lines
    assert [row["way"] for row in part["rows"]] == [way.key for way in language.ways]
    for row in part["rows"]:
        assert [heap["size"] for heap in row["heaps"]] == list(SIZES)
        # What has no figures has a reason.
        assert all({"written", "untouched"} <= set(heap) or heap["reason"] for heap in row["heaps"])


def test_memory_that_forks_leave_out_is_seen() -> None:
    area = "7f0000000000-7f0000001000 rw-p 00000000 00:00 0\nRss: {} kB\nAnonHugePages: {} kB\nVmFlags: rd wr {}\n"
    smaps = area.format(100, 0, "dc ac") + area.format(30, 20, "ac")
    assert memory_of(smaps) == {"resident": 130 * 1024, "left_out": 100 * 1024, "huge": 20 * 1024}


def test_launches_from_a_written_heap_are_kept_separate() -> None:
    times = times_of("written 30 40\nwritten 10 20\nwritten 20 30\nuntouched 1 2\n")
    assert times["written"]["call_ns"] == {"least": 10, "median": 20}
    assert times["untouched"]["end_ns"] == {"least": 2, "median": 2}


def test_an_unknown_part_is_refused_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["cobol"]) == 1
    assert "cobol" in capsys.readouterr().err


@pytest.mark.real
def test_a_language_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tools.runtimes.measuring._ROOM", 0)
    monkeypatch.setattr("tools.runtimes.measuring.SIZES", small := {20_000_000: 2})
    monkeypatch.setattr("tools.runtimes.languages.SIZES", small)
    part = measured(LANGUAGES[0])
    heaps = {row["way"]: row["heaps"][0] for row in part["rows"]}
    assert set(heaps) == {way.key for way in LANGUAGES[0].ways}
    for heap in heaps.values():
        assert heap["resident"] > 20_000_000
        assert 0 < heap["written"]["call_ns"]["least"] <= heap["written"]["end_ns"]["least"]
