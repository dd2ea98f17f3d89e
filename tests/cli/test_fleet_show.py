from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.dataset.made import make_run, write_fleet
from tests.fakes.memory_run import write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_fleet(tmp_path_factory.mktemp("runs"), hosts=2, runs=2)
    write_run(folder / "new.parquet", make_run(host="00000000", day=9, seed=99, facts={"kernel.release": "6.12.4"}))
    write_run(folder / "more.parquet", make_run(host="00000001", day=9, seed=98, facts={"kernel.release": "6.12.4"}))
    (folder / "damaged.parquet").write_bytes(b"PAR1PAR1PAR1")
    return folder


def test_a_folder_is_shown_and_compared(clonometer: Any, folder: Path) -> None:
    shown = clonometer("fleet", "show", str(folder), "--only", "fork")
    assert shown.returncode == 0
    assert "6 runs of 2 hosts" in shown.stdout
    assert "1 file is damaged and left out (damaged.parquet" in shown.stdout
    assert "pthread" not in shown.stdout
    assert "between hosts" in shown.stdout
    compared = clonometer("fleet", "compare", str(folder), "--json")
    answer = json.loads(compared.stdout)
    assert [group["name"] for group in answer["groups"]] == ["6.12.3", "6.12.4"]
    assert answer["paired"] == ["6.12.4"]
    assert answer["compared"]["noise_source"] == "these hosts"
    words = clonometer("fleet", "compare", str(folder)).stdout
    assert "each host is compared with itself" in words
    assert "kernel: 6.12.3 → 6.12.4" in words


def test_wrong_folders_and_conditions_end_with_2(clonometer: Any, folder: Path) -> None:
    for words in (
        ("fleet", "show", str(folder / "nowhere")),
        ("fleet", "show", str(folder), "--by", "kernle"),
        ("fleet", "show", str(folder), "--where", "kernel"),
        ("fleet", "show", str(folder), "--where", "kernel=7"),
        ("fleet", "compare", str(folder), "--base", "5.10"),
    ):
        ended = clonometer(*words)
        assert ended.returncode == 2, words
        assert ended.stdout == ""
        assert "Traceback" not in ended.stderr


def test_the_page_of_few_hosts_is_a_table_and_that_of_three_has_charts(
    clonometer: Any, folder: Path, tmp_path: Path
) -> None:
    three = write_fleet(tmp_path / "three", hosts=3, runs=1)
    charts = []
    for runs in (folder, three):
        page = tmp_path / "page.html"
        ended = clonometer("fleet", "show", str(runs), "--html", str(page), "--force")
        assert ended.returncode == 0, ended.stderr
        text = page.read_text()
        assert ("2 hosts" in text, "<table" in text) == (runs is folder, True)
        charts.append(text.count('class="chart'))
    assert charts[0] == 0 < charts[1]


def test_an_answer_is_also_written_as_a_page_and_as_markdown_and_replaces_nothing_unasked(
    clonometer: Any, folder: Path, tmp_path: Path
) -> None:
    page, markdown = tmp_path / "fleet.html", tmp_path / "fleet.md"
    words = ("fleet", "show", str(folder), "--html", str(page), "--markdown", str(markdown))
    first = clonometer(*words)
    assert first.returncode == 0
    assert "6 runs of 2 hosts" in first.stdout
    assert "<!DOCTYPE html>" in page.read_text()
    assert markdown.read_text().startswith("# What tasks cost on 2 hosts\n")
    page.write_text("precious")
    again = clonometer(*words)
    assert again.returncode == 2
    assert f"{page} exists" in again.stderr
    assert page.read_text() == "precious"
    assert clonometer(*words, "--force").returncode == 0
    assert page.read_text() != "precious"
    assert clonometer(*words[:4], str(page), "--markdown", str(page)).returncode == 2
