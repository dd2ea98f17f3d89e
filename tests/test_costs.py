"""Tests are handed out and chosen by what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests import changed, conftest, costs
from tests.costs import Cost

PROJECT = Path(__file__).parents[1]


def test_what_is_chosen_of_a_file_is_cheap_together_and_every_function_comes_before_further_cases() -> None:
    tests = ["f.py::test_a[1]", "f.py::test_a[2]", "f.py::test_b", "f.py::test_dear"]
    of = {"f.py::test_a[1]": Cost(1, 0.5), "f.py::test_b": Cost(1, 0.9), "f.py::test_dear": Cost(9, 9.0)}
    assert costs.few(tests, of) == {"f.py::test_a[2]", "f.py::test_b", "f.py::test_a[1]"}
    of["f.py::test_a[1]"] = Cost(1, 1.2)
    assert costs.few(tests, of) == {"f.py::test_a[2]", "f.py::test_b"}


def test_the_first_that_takes_what_is_shared_pays_for_it_and_one_is_chosen_unless_all_are_dear() -> None:
    tests = ["f.py::test_a", "f.py::test_b", "f.py::test_c"]
    of = {"f.py::test_a": Cost(9, costs.TEST_S, shares=True), "f.py::test_b": Cost(0, 0.1, shares=True)}
    assert costs.few(tests, of) == {"f.py::test_c"}
    assert costs.few(tests[:2], of) == {"f.py::test_b"}
    of["f.py::test_a"] = Cost(9, costs.TEST_S + 1, shares=True)
    assert costs.few(tests[:2], of) == set()


def test_functions_with_the_same_cases_are_chosen_with_different_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "FILE_S", 0.35 * costs.LEAST_S)
    cases = [f"f.py::test_{function}[{case}]" for function in "abc" for case in "xyz"]
    assert costs.few(cases, {}) == {"f.py::test_a[x]", "f.py::test_b[y]", "f.py::test_c[z]"}


def test_costs_are_read_as_they_were_written(tmp_path: Path) -> None:
    some = {"tests/a.py": Cost(2.5, 1.25), "tests/a.py::test_b[c d]": Cost(2.0, 1.0, shares=True)}
    costs.write(tmp_path / "costs.txt", some)
    assert costs.read(tmp_path / "costs.txt") == some
    assert costs.read(tmp_path / "none.txt") == {}


def test_a_long_test_is_handed_out_alone_and_one_that_shares_with_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    of = {"f.py": Cost(900, 9), "f.py::test_a": Cost(2, 1), "f.py::test_b": Cost(2, 1, shares=True)}
    of["f.py::test_c"] = Cost(0.5, 0.5)
    monkeypatch.setattr(costs, "kept", lambda: of)
    costs._long_s.cache_clear()
    assert [costs.unit(f"f.py::test_{name}") for name in "abcd"] == ["f.py::test_a", "f.py", "f.py", "f.py"]
    costs._long_s.cache_clear()


def test_what_waits_and_what_computes_keep_each_other_company(monkeypatch: pytest.MonkeyPatch) -> None:
    of = {"wait1.py": Cost(90, 9), "wait2.py": Cost(60, 3), "wait3.py": Cost(30, 1)}
    of |= {
        "count1.py": Cost(20, 15),
        "count2.py": Cost(20, 15),
        "count3.py": Cost(5, 5),
        "wait1.py::test_a": Cost(80, 8),
    }
    monkeypatch.setattr(costs, "kept", lambda: of)
    places = costs.in_company({name for name in of if "::" not in name} | {"unknown.py"})
    ordered = sorted(places, key=lambda name: (places[name], name))
    assert ordered == ["count1.py", "unknown.py", "wait1.py", "count2.py", "wait2.py", "wait3.py", "count3.py"]
    assert costs.in_company({"unknown.py"}) == {"unknown.py": 0.0}


def test_what_is_kept_names_files_that_exist() -> None:
    assert {path for path in map(costs.path_of, costs.kept()) if not (PROJECT / path).exists()} == set()


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("core/census/follow.c", "tests/integration/test_census_start.py"),
        ("core/workloads/wake/futex.c", "tests/integration/test_wake.py"),
        ("core/workloads/clocks/tsc.c", "tests/integration/test_clocks.py"),
        ("core/tracer/fast.c", "tests/integration/test_explain.py"),
        ("drivers/perl/driver.pl", "tests/integration/test_perl_driver.py"),
        ("src/clonometer/cli/commands/reproduce.py", "tests/cli/test_reproduce.py"),
        ("src/clonometer/stats/processes.py", "tests/stats/test_processes.py"),
        ("src/clonometer/views/html/page.py", "tests/browser/test_pages.py"),
        ("docs/methods.md", "tests/test_docs.py"),
        ("tools/tidy.py", "tests/tools/test_tidy.py"),
        ("publications/cases/case.py", "tests/publications/test_cases.py"),
        (".ci/run", "tests/tools/test_ci.py"),
        ("tests/cli/test_help.py", "tests/cli/test_help.py"),
    ],
)
def test_a_change_is_tested_where_it_would_show(path: str, test: str) -> None:
    assert test in changed.of([path])


def test_every_folder_of_the_package_and_of_the_core_has_tests_that_are_run_whole() -> None:
    places = [*(PROJECT / "src/clonometer").iterdir(), *(PROJECT / "core").iterdir()]
    folders = [path for path in places if path.is_dir() and path.name not in ("__pycache__", "test", "fuzz")]
    assert len(folders) > 20
    lacking = {path.name for path in folders if not changed.of([f"{path.relative_to(PROJECT)}/any/any.c"])}
    assert lacking <= {"workloads", "records", "words", "discovery"}


def test_a_flake_is_named_and_more_than_a_few_fail_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_passes(n): pass\n"
    )
    environment = {**os.environ, "ASKED_AGAIN": "yes"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest", str(tmp_path)]
    for selected, status in (("not 5", 0), ("test_passes", 1)):
        ended = subprocess.run(
            [*words, "-k", selected], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=60
        )
        assert ended.returncode == status, ended.stdout + ended.stderr
        assert f"flaked: {5 + status} failed beside others" in ended.stdout
        assert "test_some.py::test_passes[0]" in ended.stdout


def test_what_is_asked_again_does_not_replace_what_all_tests_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKED_AGAIN", "yes")
    written: list[object] = []
    monkeypatch.setattr(conftest._measured, "write", lambda: written.append(1))
    reporter = Mock(stats={}, config=Mock(getoption=lambda _: 20))
    conftest.pytest_terminal_summary(reporter)
    assert not written
    monkeypatch.delenv("ASKED_AGAIN")
    conftest.pytest_terminal_summary(reporter)
    assert written


def test_every_pattern_of_the_map_matches_files() -> None:
    fixed = {pattern for _, patterns in changed.TESTS_OF for pattern in patterns if r"\1" not in pattern}
    assert {pattern for pattern in fixed if not any(PROJECT.glob(pattern))} == set()
