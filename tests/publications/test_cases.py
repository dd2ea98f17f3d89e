"""Cases of real programs: their files are whole, what is measured of them, and what is written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from publications.cases import __main__ as command
from publications.cases import measuring
from publications.cases.case import PROJECT, Case, read_cases
from publications.cases.pages import index, page

CASES = read_cases()
RESULT: dict[str, Any] = {
    "version": "Program 1.0",
    "load": 0.2,
    "cpus": 2,
    "census": {
        side: {
            "tasks_created": 20,
            "creating_ns": 40_000_000,
            "launches": [
                {
                    "title": "subprocess.run, Popen",
                    "file": "/tmp/x/before.py",
                    "line": 3,
                    "created": 20,
                    "mechanism": "fork",
                    "cost_ns": 40_000_000,
                }
            ],
            "creators": [{"mechanism": "fork", "created": 20, "cost_ns": 40_000_000, "making_ns": 2_000_000}],
        }
        for side in ("before", "after")
    },
    "pairs": [{"before": 2.0, "after": 1.0}] * 12,
    "before": [2.0, 1.9, 2.1],
    "after": [1.0, 0.9, 1.1],
    "faster": [2.0, 1.8, 2.2],
    "p_value": 0.0005,
    "after_faster": 12,
}


def tiny(**changes: Any) -> Case:
    case = replace(
        CASES[0],
        before=["sh", "before.sh"],
        after=["sh", "-c", "exit 0"],
        files={"before.sh": "sleep 0.05\n/bin/true\n"},
        pip=(),
        prepare=(),
        version=["sh", "-c", "echo shell"],
        measures="wall",
        needs={},
    )
    return replace(case, **changes)


def test_there_are_ten_cases_each_with_a_page() -> None:
    assert len(CASES) >= 10
    assert {path.stem for path in (PROJECT / "docs" / "cases").glob("*.md")} >= {case.name for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_whole(case: Case) -> None:
    programs = {words[0] for words in (case.before, case.after, case.version)} - {"sh", "env", "{python}"}
    assert programs <= set(case.needs), "each program has its package"
    named = {word for word in (*case.before, *case.after) if re.fullmatch(r"[\w-]+\.(?:py|js|sh|php|rb|mk)", word)}
    assert named <= set(case.files)
    text = " ".join(page(case, RESULT, "a machine").split())
    assert case.why in text
    assert case.mend in text
    assert case.lose in text


def test_a_page_says_what_was_measured_and_whether_the_machine_was_quiet() -> None:
    text = " ".join(page(CASES[0], RESULT, "a machine").split())
    assert "2.00 s before, 1.00 s after" in text
    assert "In 12 of 12 pairs it was faster with the mend, 2 (1.8 to 2.2) times at the median" in text
    assert "20 by fork, 2.00 ms each" in text
    assert "names `subprocess.run, Popen` at `before.py:3`: 20 tasks by fork, 40.0 ms in all" in text
    assert "The machine was quiet (load 0.2 on 2 CPUs)" in text
    assert "times are too long" in " ".join(page(CASES[0], RESULT | {"load": 9.0}, "a machine").split())
    listed = index([(CASES[0], RESULT)], "a machine", ["Another: not measured here."])
    assert f"[{CASES[0].title}]({CASES[0].name}.md)" in listed
    assert "- Another: not measured here." in listed


def test_a_program_that_is_not_installed_is_skipped_with_its_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "read_cases", lambda: [tiny(name="lacking", needs={"no-such-program": "its-package"})])
    monkeypatch.setattr(command, "_KEPT", tmp_path / "kept")
    monkeypatch.setattr(command, "_PAGES", tmp_path / "pages")
    assert command.main([]) == 0
    assert "skipped lacking: install its-package" in capsys.readouterr().out
    assert "its-package is not installed" in (tmp_path / "pages" / "index.md").read_text()
    assert command.main(["unheard-of"]) == 1


@pytest.mark.real
def test_a_case_is_measured_in_pairs_with_a_census_of_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_BUDGET_S", 0.1)
    result = measuring.measured(tiny())
    assert len(result["pairs"]) == measuring.LEAST_PAIRS
    assert result["after_faster"] == len(result["pairs"])
    assert result["faster"][0] > result["faster"][1] > 1
    assert result["census"]["before"]["tasks_created"] == 2
    assert result["census"]["after"]["tasks_created"] == 0
    assert result["version"] == "shell"


@pytest.mark.real
def test_a_case_may_print_what_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_BUDGET_S", 0.1)
    printing = tiny(before=["sh", "-c", "echo 4"], after=["sh", "-c", "echo 2"], measures="printed")
    result = measuring.measured(printing)
    assert (result["before"][0], result["after"][0]) == (4.0, 2.0)
    assert result["faster"][0] == pytest.approx(2.0)
