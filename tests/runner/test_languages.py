"""Drivers of languages: which toolchains are used, what is built and kept, and what is missing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from clonometer.errors import DriverError
from clonometer.launch_paths.drivers import FAILED, MISSING, NOT_BUILT, READY
from clonometer.launch_paths.types import LaunchPath, RuntimeBook
from clonometer.runner.languages import building
from clonometer.runner.languages.building import build, state_of, usable_drivers
from clonometer.runner.languages.toolchains import (
    find_languages,
    find_toolchains,
    measured_toolchains,
    wanted_languages,
)
from clonometer.runner.languages.types import Language
from clonometer.runner.process import answer_of

PATH = LaunchPath("thread", "thread", ("vfork",), "file: why", "snippet")
BOOK = RuntimeBook(
    "toy", "Toy", "nowhere", ("toy-lang",), ("toy", "toy2"), ("{program}", "--version"), r"^toy (?P<version>[\d.]+)",
    ".toy", ("{program}",), True, (PATH,),
)  # fmt: skip


def program(folder: Path, name: str, version: str, does: str = "true") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo toy {version}; exit; fi\n{does}\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def language(tmp_path: Path) -> Language:
    sources = tmp_path / "toy"
    sources.mkdir()
    (sources / "driver.toy").write_text("a source")
    run, built = ("{out}/driver", "{name}"), ("{program}", "{folder}/driver.toy", "{out}/driver")
    return Language(sources, BOOK, "2.0", run, built, places=(str(tmp_path / "opt" / "*" / "toy"),))


def test_a_toolchain_builds_the_sources_once(bin_folder: Path, language: Language, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program(bin_folder, "toy", "2.1", f'echo once >> {log}; cp "$1" "$2"')
    [toolchain] = find_toolchains(language)
    assert state_of(toolchain).status == NOT_BUILT
    heard: list[str] = []
    for _ in range(2):
        [driver], lacks = usable_drivers([language], heard.append)
        assert lacks == []
    assert log.read_text() == "once\n"
    assert len(heard) == 1
    assert "Toy 2.1" in heard[0]
    assert state_of(toolchain).status == READY
    assert driver.name == "toy"
    assert Path(driver.argv[1]).read_text() == "a source"
    assert driver.argv[2] == "toy"


def test_changed_sources_and_another_version_are_built_anew(bin_folder: Path, language: Language) -> None:
    program(bin_folder, "toy", "2.1", 'cp "$1" "$2"')
    [before], _ = usable_drivers([language], str)
    (language.folder / "driver.toy").write_text("another source")
    [changed], _ = usable_drivers([language], str)
    program(bin_folder, "toy", "2.2", 'cp "$1" "$2"')
    [newer], _ = usable_drivers([language], str)
    assert len({before.argv[1], changed.argv[1], newer.argv[1]}) == 3
    assert Path(changed.argv[1]).read_text() == "another source"


def test_what_has_not_been_used_for_a_month_is_forgotten(bin_folder: Path, language: Language) -> None:
    def built(version: str) -> Path:
        program(bin_folder, "toy", version, 'cp "$1" "$2"')
        [driver], _ = usable_drivers([language], str)
        return Path(driver.argv[1]).parent

    unused, used = built("2.1"), built("2.2")
    for place in (unused, used):
        os.utime(place, (0, 0))
    assert built("2.2") == used
    assert built("2.3").is_dir()
    assert (unused.is_dir(), used.is_dir()) == (False, True)


def test_a_failure_is_kept_with_its_message_until_it_is_built_by_hand(
    bin_folder: Path, language: Language, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    program(bin_folder, "toy", "2.1", f"echo once >> {log}; echo 'driver.toy:1: error: no' >&2; exit 3")
    for _ in range(2):
        drivers, [lack] = usable_drivers([language], str)
        assert drivers == []
        assert lack["what"] == "toy"
        assert "driver.toy:1: error: no" in lack["reason"]
    assert log.read_text() == "once\n"
    [toolchain] = find_toolchains(language)
    state = state_of(toolchain)
    assert (state.status, state.reason) == (FAILED, "driver.toy:1: error: no")
    program(bin_folder, "toy", "2.1", 'cp "$1" "$2"')
    build(toolchain)
    assert state_of(toolchain).status == READY


def test_a_toolchain_that_hangs_is_ended(bin_folder: Path, language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_BUILD_S", 0.2)
    program(bin_folder, "toy", "2.1", "exec sleep 60")
    [toolchain] = find_toolchains(language)
    with pytest.raises(DriverError, match="gave no answer"):
        build(toolchain)
    # What was said is kept, and it is not tried again by the next run.
    assert state_of(toolchain).status == FAILED
    _, [lack] = usable_drivers([language], pytest.fail)
    assert "gave no answer" in lack["reason"]


def test_what_a_toolchain_that_hangs_has_started_is_ended_too(
    bin_folder: Path,
    language: Language,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    alive: Callable[[int], bool],
) -> None:
    monkeypatch.setattr(building, "_BUILD_S", 0.5)
    started = tmp_path / "started"
    program(bin_folder, "toy", "2.1", f"sleep 60 & echo $! > {started}; wait")
    [toolchain] = find_toolchains(language)
    with pytest.raises(DriverError, match="gave no answer"):
        build(toolchain)
    _wait_until(lambda: not alive(int(started.read_text())))


def test_a_runtime_whose_fork_hangs_is_given_up_with_its_child(
    bin_folder: Path, language: Language, tmp_path: Path, alive: Callable[[int], bool]
) -> None:
    """A child of a process with threads may wait for a lock for ever, whose owner was not forked."""
    started = tmp_path / "started"
    program(bin_folder, "toy", "2.1", f"sleep 60 & echo $! > {started}; wait")
    interpreted = replace(language, build=(), run=("{program}", "{name}"))
    [driver], _ = usable_drivers([interpreted], str)
    answer, ending = answer_of([*driver.argv[1:], "--fd", "3"], timeout_s=0.5)
    assert answer == b""
    assert "gave no answer within" in ending.describe()
    _wait_until(lambda: not alive(int(started.read_text())))


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_versions_are_both_named(bin_folder: Path, language: Language, tmp_path: Path) -> None:
    program(bin_folder, "toy", "2.1")
    program(bin_folder, "toy2", "2.1")
    program(tmp_path / "opt" / "new", "toy", "3.4.5")
    assert [(each.name, each.version) for each in find_toolchains(language)] == [("toy", "2.1"), ("toy_3_4", "3.4.5")]


def test_a_run_measures_the_first_version_the_newest_other_and_those_asked_for(
    bin_folder: Path, language: Language, tmp_path: Path
) -> None:
    program(bin_folder, "toy", "2.1")
    for version in ("3.9", "3.10", "2.5"):
        program(tmp_path / "opt" / version, "toy", version)

    def measured(*names: str) -> list[str]:
        return [each.name for each in measured_toolchains(language, names)]

    assert [each.name for each in find_toolchains(language)] == ["toy", "toy_3_10", "toy_3_9", "toy_2_5"]
    assert measured("*.thread", "toy*.thread") == ["toy", "toy_3_10"]
    assert measured("toy_2_5.thread") == ["toy", "toy_3_10", "toy_2_5"]
    assert measured("toy_*.thread") == ["toy", "toy_3_10", "toy_3_9", "toy_2_5"]
    [*_, driver], lacks = usable_drivers([replace(language, build=())], str, ["toy_2_5.thread"])
    assert (driver.name, lacks) == ("toy_2_5", [])


def test_what_is_missing_is_said_with_its_package(bin_folder: Path, language: Language) -> None:
    drivers, [lack] = usable_drivers([language], str)
    assert drivers == []
    assert lack["what"] == "toy"
    assert "toy-lang" in lack["reason"]


def test_an_old_version_leaves_its_name_to_a_later_one(bin_folder: Path, language: Language, tmp_path: Path) -> None:
    program(bin_folder, "toy", "1.9")
    [old] = find_toolchains(language)
    state = state_of(old)
    assert state.status == MISSING
    assert "2.0" in (state.reason or "")
    program(tmp_path / "opt" / "new", "toy", "2.0")
    assert [(each.name, each.version) for each in find_toolchains(language)] == [("toy", "2.0")]


def test_without_a_safe_cache_folder_nothing_is_built(
    bin_folder: Path, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "user_folder", lambda *_: None)
    program(bin_folder, "toy", "2.1")
    _, [lack] = usable_drivers([language], str)
    assert "cache" in lack["reason"]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["toy.thread"], True),
        (["*.command"], True),
        (["to?.*"], True),
        (["toy_3_4.thread"], True),
        (["toy_*.thread"], True),
        (["launch.*", "launch.fork"], False),
        (["*", "thread", "toyed.thread"], False),
    ],
)
def test_a_language_is_wanted_where_its_workloads_may_be_meant(
    language: Language, names: list[str], wanted: bool
) -> None:
    assert bool(wanted_languages(names, [language])) is wanted


def test_a_language_that_comes_with_us_is_in_the_book() -> None:
    languages = {language.name: language for language in find_languages()}
    assert "python" in languages
    assert all(language.runtime.name == name and language.run for name, language in languages.items())
