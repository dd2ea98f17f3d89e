"""The report of a run with explanations: what explain has written goes in, anything else is refused by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CommandLine
from tests.tracing.test_work import with_ablation
from tests.views.test_explain import counted, versus

from clonometer.cli.commands import report
from clonometer.cli.ending import run_to_the_end
from clonometer.inputs import InputKind
from clonometer.records import to_json

RUN = str(Path(__file__).parents[1] / "data" / "schema1.parquet")
Captured = pytest.CaptureFixture[str]


def write(folder: Path, name: str, document: Any) -> str:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def test_every_kind_of_explanation_gets_a_section(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "one.json", to_json(counted())),
        write(tmp_path, "two.json", to_json(versus())),
        write(tmp_path, "work.json", to_json(with_ablation())),
    ]
    out = tmp_path / "report.html"
    words = [word for name in files for word in ("--explain", name)]
    assert run_to_the_end(["report", RUN, *words, "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    for section in ("why", "explained-0", "explained-1", "explained-2"):
        assert f'id="{section}"' in page
    assert "4.00 times as long" in page


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{}", "this JSON is not an explanation"),
        ("<html>", "this is not an explanation: it is not"),
        ({**to_json(counted()), "schema": 7}, "of schema 7; this version reads schema 1"),
        ({**to_json(counted()), "budget": [{}]}, "a damaged explanation: budget[0].part is missing"),
    ],
)
def test_what_is_no_explanation_ends_with_the_file_and_the_place(
    tmp_path: Path, capsys: Captured, document: Any, message: str
) -> None:
    file, out = write(tmp_path, "why.json", document), tmp_path / "report.html"
    assert run_to_the_end(["report", RUN, "--explain", file, "--out", str(out)]) == 2
    errors = " ".join(capsys.readouterr().err.split())
    assert "why.json" in errors
    assert message in errors
    assert not out.exists()


def test_a_run_file_a_folder_and_nothing_at_all_are_no_explanations(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "report.html")
    for name, reason in (
        (RUN, "this is not an explanation: it is not"),
        (str(tmp_path), "Is a directory"),
        (str(tmp_path / "none"), "No such file"),
    ):
        assert run_to_the_end(["report", RUN, "--explain", name, "--out", out]) == 2
        assert reason in " ".join(capsys.readouterr().err.split())
    monkeypatch.setattr(report, "EXPLANATION", InputKind("an explanation", 10))
    assert run_to_the_end(["report", RUN, "--explain", write(tmp_path, "a.json", "x" * 11), "--out", out]) == 2
    assert "too large" in capsys.readouterr().err


def test_a_page_without_a_name_is_named_after_its_run(clonometer: CommandLine) -> None:
    run_file = clonometer.folder / "mine.parquet"
    shutil.copyfile(Path(__file__).parents[1] / "data" / "schema1.parquet", run_file)
    page, previous = clonometer.folder / "mine-report.html", clonometer.folder / "mine-report.previous.html"
    for times in (1, 2):
        ended = clonometer("report", str(run_file))
        assert (ended.returncode, page.exists(), previous.exists()) == (0, True, times == 2), ended.stderr


def test_run_show_and_report_write_the_same_page_and_markdown(clonometer: CommandLine) -> None:
    out = clonometer.folder
    measured = clonometer(
        "run", "launch.fork", "--budget", "0.2", "--html", "run.html", "--markdown", "run.md", "--out", "r.parquet"
    )
    assert "Wrote r.parquet, run.html and run.md." in measured.stdout
    assert clonometer("show", "r.parquet", "--html", "show.html", "--markdown", "show.md").returncode == 0
    assert clonometer("report", "r.parquet", "--out", "report.html").returncode == 0
    assert clonometer("report", "r.parquet", "--markdown", "report.md").returncode == 0
    assert not (out / "r-report.html").exists(), "Markdown was asked for, and no page"
    for ending in ("html", "md"):
        texts = {(out / f"{name}.{ending}").read_text(encoding="utf-8") for name in ("run", "show", "report")}
        assert len(texts) == 1
    assert (out / "run.md").read_text(encoding="utf-8").startswith("# What a task costs on ")
    refused = clonometer("run", "launch.fork", "--html", "same.html", "--markdown", "same.html", "--out", "s.parquet")
    assert (refused.returncode, "two outputs name the same file" in refused.stderr) == (2, True)
