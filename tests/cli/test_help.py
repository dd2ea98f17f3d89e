from __future__ import annotations

from pathlib import Path

import pytest
from tools.reference import reference

from clonometer.cli.ending import run_to_the_end
from clonometer.cli.group import app

DOCS = Path(__file__).parents[2] / "docs"
NAMES = app.list_commands(None)
COMMANDS = [[], *([name] for name in NAMES)]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "clonometer")
def test_help_fits_80_columns_and_has_examples(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run_to_the_end([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    lines = text.splitlines()
    begin = next(at for at, line in enumerate(lines) if line.strip() == "Examples:")
    # One line an example: rich-click would join them.
    assert "clonometer" in lines[begin + 1]
    assert all("clonometer" in line for line in lines[begin + 1 :] if line.strip())


def test_every_command_is_listed_with_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    run_to_the_end(["--help"])
    text = capsys.readouterr().out
    assert [name for name in NAMES if f" {name} " not in text] == []


def test_the_reference_is_current() -> None:
    stored = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert stored == reference(), "python -m tools.reference docs/cli.md writes it anew"


def test_the_reference_names_every_option_of_every_command() -> None:
    text = reference()
    for name in NAMES:
        assert f"## clonometer {name}\n" in text
    for option in ("--set AXIS=V1,V2", "--only GLOB", "--budget TIME", "--keep-previous", "--self-test"):
        assert f"`{option}`" in text


@pytest.mark.parametrize("name", [*NAMES, *(f"fleet {name}" for name in ("run", "show", "compare"))])
def test_the_help_of_a_command_fits_two_screens(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run_to_the_end([*name.split(), "--help"]) == 0
    assert len(capsys.readouterr().out.splitlines()) <= 48
