"""What launches cost by the heap: the page is current, its data says where it is from, memory is read right."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from publications.runtimes import __main__ as command
from publications.runtimes.foretold import Watched
from publications.runtimes.held import held, memory_of
from publications.runtimes.languages import LANGUAGES, SIZES, Language
from publications.runtimes.measuring import measured, summarized
from publications.runtimes.pages import page
from publications.runtimes.published import in_rounds
from publications.runtimes.quiet import Others, busy_ticks
from tests.prediction.test_fork_page import predicted

from clonometer.host.target.runtime import Runtime
from clonometer.launch_paths.own_work import load_own_works
from clonometer.launch_paths.reading import load_book
from clonometer.model.types import UNSCALED
from clonometer.prediction.runtime_paths import runtime_paths

MEASURED: dict[str, Any] = json.loads(command.MEASURED.read_text(encoding="utf-8"))
PYTHON = LANGUAGES[0]


def test_the_page_is_current_with_its_data() -> None:
    assert command.PAGE.read_text(encoding="utf-8") == page(MEASURED)


def test_the_data_says_which_version_was_measured_when_and_where() -> None:
    assert {language.name for language in LANGUAGES} | {"spawns", "servers", "floors"} <= set(MEASURED)
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


def test_rounds_count_by_their_medians_and_the_fastest_launch_of_all_is_kept() -> None:
    # A round that others disturbed moves the median of rounds less than it would that of all launches.
    calm, disturbed = [(10, 20), (12, 22), (14, 24)], [(90, 95)] * 5
    summary = summarized([calm, calm, disturbed])
    assert summary == {"call_ns": {"median": 12, "least": 10}, "end_ns": {"median": 22, "least": 20}}


def test_idle_time_and_waiting_for_disks_are_not_busy() -> None:
    assert busy_ticks("cpu  10 1 5 1000 50 2 3 4 7 0\ncpu0 9 9 9 9") == 10 + 1 + 5 + 2 + 3 + 4


def test_own_time_is_not_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # 100 ticks a second of two CPUs: in two seconds others took 40 of 400.
    readings = iter([(0.0, 1000, 500.0), (2.0, 1140, 600.0)])
    monkeypatch.setattr(Others, "_now", lambda self: next(readings))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("publications.runtimes.quiet._TICKS_S", 100)
    assert Others(lambda: 0).share() == pytest.approx(0.1)


def test_shapes_take_turns_until_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    rounds = in_rounds({name: lambda name=name: seen.append(name) or len(seen) for name in "ab"})
    assert "".join(seen) == "ab" * 4
    assert rounds.of == {"a": [1, 3, 5, 7], "b": [2, 4, 6, 8]}
    monkeypatch.setattr("publications.runtimes.published._MOST_S", 0)
    assert in_rounds({"a": lambda: time.sleep(0.01)}).facts()["rounds"] == 1


def test_an_unknown_part_is_refused_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["cobol"]) == 1
    assert "cobol" in capsys.readouterr().err


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_predict_lists_each_way_that_it_is_judged_by(language: Language) -> None:
    version = MEASURED[language.name]["version"]
    for way in language.ways:
        if way.until != "end":
            is_root = "HEAP_USER" not in dict(way.variables)
            answer = predicted(UNSCALED)
            works = load_own_works()
            runtime = Runtime(language.name, version, "/bin/x")
            paths = runtime_paths(runtime, load_book(), answer, works, is_root=is_root)
            watched = Watched(replace(answer, paths=paths), {way.key: [1, 5, 9]})
            launches = watched.entry(language, way)
            assert launches.waits_ns is not None
            assert launches.own_ns is not None
            assert watched.kernel_ns(language, way) == pytest.approx(launches.waits_ns.median - launches.own_ns)
            assert watched.measured_ns(way) == 5


@pytest.mark.real
def test_a_language_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publications.runtimes.measuring.SIZES", {20_000_000: 2})
    monkeypatch.setattr("publications.runtimes.measuring.ROUNDS", 2)
    part = measured(PYTHON)
    heaps = {row["way"]: row["heaps"][0] for row in part["rows"]}
    assert part["rounds"] == 2
    assert set(heaps) == {way.key for way in PYTHON.ways}
    for heap in heaps.values():
        assert heap["resident"] > 20_000_000
        assert 0 <= heap["quiet"] <= heap["rounds"] == 2
        assert 0 < heap["written"]["call_ns"]["least"] <= heap["written"]["end_ns"]["median"]


@pytest.mark.real
def test_a_heap_without_room_is_refused_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publications.runtimes.measuring.SIZES", {20_000_000: 2})
    monkeypatch.setattr("publications.runtimes.measuring.available", lambda: 30_000_000)
    for row in measured(PYTHON)["rows"]:
        assert row["heaps"] == [{"size": 20_000_000, "reason": "30 MB of memory were available, 40 MB are needed"}]


@pytest.mark.real
def test_a_program_that_ends_is_an_error_that_names_it(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"heap\.py"),
        held(PYTHON.command(PYTHON.ways[0], 0, tmp_path), ()) as program,
    ):
        program.launch("no such way")
