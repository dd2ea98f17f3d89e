"""The page of the book is current, and answers fit the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from tests.launch_paths.samples import checked_book
from tools.launch_paths import page

from clonometer.cli.ending import run_to_the_end
from clonometer.launch_paths.reading import load_book
from clonometer.records import to_json
from clonometer.views.documents.paths import checked_document
from clonometer.views.markdown import render_markdown
from clonometer.views.terminal.document import render_document

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schemas/launch-paths.schema.json").read_text(encoding="utf-8"))
Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *words: str, status: int = 0) -> str:
    assert run_to_the_end(["paths", *words]) == status
    return capsys.readouterr().out


def test_the_page_is_what_make_docs_writes() -> None:
    assert (DOCS / "launch-paths.md").read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_every_runtime_fits_the_terminal(columns: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in ([], *([runtime.name] for runtime in load_book().runtimes)):
        lines = run(capsys, *words).splitlines()
        # A setting is there to be copied, and a name of many letters has no place to break.
        longest = max(len(word) for line in lines for word in line.split())
        assert max(map(len, lines)) <= max(columns, longest + 6)


def test_what_was_checked_stands_where_there_is_room(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = run(capsys, "python")
    assert "3.10.13 to 3.12.1" in text
    assert "Instead: start_new_session=True" in text
    assert "checked with" not in render_at(80, capsys, monkeypatch, "python")


def render_at(columns: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    return run(capsys, *words)


def test_json_is_the_book_with_what_was_seen(capsys: Captured) -> None:
    document = json.loads(run(capsys, "perl", "--json"))
    jsonschema.validate(document, SCHEMA)
    assert [runtime["name"] for runtime in document["runtimes"]] == ["perl"]
    assert {seen["runtime"] for seen in document["seen"]} == {"perl"}
    assert document["runtimes"][0]["path"][0]["sees"] == ["fork > true"]


def test_an_unknown_runtime_is_refused(capsys: Captured) -> None:
    assert run_to_the_end(["paths", "perk"]) == 2
    assert "did you mean 'perl'" in capsys.readouterr().err


def test_recording_needs_a_check(capsys: Captured, tmp_path: Path) -> None:
    assert run_to_the_end(["paths", "--record", str(tmp_path / "seen.json")]) == 2
    assert "--record needs --check" in capsys.readouterr().err


def test_a_check_says_what_is_wrong_first_and_what_brings_a_runtime() -> None:
    document = checked_document(checked_book())
    assert document.lead == "1 line right, 1 wrong, 1 could not be run, 2 not checked here."
    text = render_document(checked_document, checked_book(), width=80, colour=False)
    assert "\x1b" not in text
    for part in (
        "system: the book has fork, the kernel saw vfork",
        "open3: ended with status 2",
        "perl 5.36.0: threads",
    ):
        assert part in text
    assert "Debian's php-cli" in render_markdown(document)
    jsonschema.validate(to_json(checked_book()), SCHEMA)
