"""A machine without toolchains measures C, and hears a line a language of what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest
from tests.fakes.heard import Heard

from clonometer.app import ab, check
from clonometer.app.languages import build_language_drivers, language_drivers
from clonometer.app.measuring import find_catalogue
from clonometer.errors import UsageError
from clonometer.launch_paths.drivers import MISSING
from clonometer.plan.planfile import load_plan
from clonometer.runner.interfaces import Progress
from clonometer.runner.languages import building, toolchains
from clonometer.runner.languages.toolchains import find_languages
from clonometer.runner.languages.types import Language, Toolchain

pytestmark = pytest.mark.real


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "find_toolchains", lambda language: ())


@pytest.mark.usefixtures("bare")
def test_without_toolchains_c_is_measured_and_each_language_has_a_line() -> None:
    heard = Heard()
    _, catalogue = find_catalogue(heard, ["launch.pthread", "*.os_thread"])
    names = [language.name for language in find_languages()]
    assert [line.split()[1] for line in heard.lines] == names
    assert all("Debian" in line for line in heard.lines)
    assert [lack["what"] for lack in catalogue.lacks][-len(names) :] == names
    workloads = {target.workload for target in load_plan("runtimes", catalogue).targets}
    assert workloads == {"launch.none", "launch.pthread", "launch.posix_spawn", "wake.thread_futex", "wake.futex"}


@pytest.mark.usefixtures("bare")
def test_a_language_that_is_missing_is_said_so() -> None:
    answer = language_drivers(["go"])
    assert [(each.name, each.status) for each in answer.drivers] == [("go", MISSING)]
    assert build_language_drivers(["go"]) == answer
    with pytest.raises(UsageError, match="unknown language 'goo'; did you mean 'go'"):
        language_drivers(["goo"])


def test_a_version_is_listed_and_built_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is listed can be asked for by the name that it is listed with."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built: list[str] = []
    monkeypatch.setattr(building, "build", lambda toolchain: built.append(toolchain.name))

    def toolchains_of(language: Language) -> tuple[Toolchain, ...]:
        names = {"java": "1.0", "java_25_0": "25.0.3"} if language.name == "java" else {}
        return tuple(Toolchain(language, name, "/bin/true", version) for name, version in names.items())

    monkeypatch.setattr(toolchains, "find_toolchains", toolchains_of)
    assert [each.name for each in language_drivers(["java"]).drivers] == ["java", "java_25_0"]
    assert [each.name for each in build_language_drivers(["java_25_0"]).drivers] == ["java_25_0"]
    assert built == ["java_25_0"]
    for name in ("java_24_0", "go_1_9", "rust_"):
        with pytest.raises(UsageError, match=f"unknown language '{name}'"):
            language_drivers([name])


def test_who_asks_for_no_language_looks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "find_toolchains", lambda language: pytest.fail("nobody asked"))
    _, catalogue = find_catalogue(names=["launch.*", "fork"])
    assert not any(workload.startswith("python") for workload in catalogue.workloads)


@pytest.mark.parametrize("command", ["ab", "check"])
def test_comparisons_look_for_the_languages_of_their_workloads(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workload of a language is no unknown workload to them."""

    class LookedError(Exception):
        """What was looked for."""

    def find(_: Progress, names: Sequence[str] = ()) -> NoReturn:
        raise LookedError(*names)

    target = SimpleNamespace(workload="python.command")
    monkeypatch.setattr(ab, "find_catalogue", find)
    monkeypatch.setattr(check, "find_catalogue", find)
    monkeypatch.setattr(check, "_plan_again", lambda *_: SimpleNamespace(targets=[target]))
    request = ab.AbRequest(("python.command",), b=("parent_bytes=1MiB",), seed=1)
    measures: dict[str, Callable[[], object]] = {
        "ab": lambda: ab.measure(request, Path("ab.parquet")),
        "check": lambda: check._measure_again(None, None, Progress()),  # type: ignore[arg-type]
    }
    with pytest.raises(LookedError) as looked:
        measures[command]()
    assert looked.value.args == ("python.command",)
