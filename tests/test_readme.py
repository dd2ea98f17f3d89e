"""The README says nothing that does not exist: commands, options, plans, make targets, files, Python names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import rich_click as click

from clonometer.cli.group import app
from clonometer.plan.shipped import plan_names

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
MARKERS = ("<!-- answer begins -->", "<!-- answer ends -->")


def code() -> list[str]:
    """Lines of indented code, and what stands in backticks."""
    answer = README[README.index(MARKERS[0]) : README.index(MARKERS[1])]
    text = README.replace(answer, "")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return [*lines, *re.findall(r"`([^`\n]+)`", text)]


def commands() -> list[list[str]]:
    # A reader puts in a number for PID.
    typed = (line.removeprefix(".venv/bin/").replace(" PID", " 4711") for line in code())
    lines = (line for line in typed if line.startswith("clonometer "))
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_one_that_the_command_line_takes(words: list[str]) -> None:
    context = click.Context(app, info_name="clonometer")
    name = words[1]
    command = app.get_command(context, name) if name in app.list_commands(context) else None
    assert command is not None, f"there is no command {name}"
    # Parses arguments as they will be, and runs nothing; of `clonometer show` alone the argument may be missing.
    made = command.make_context(name, words[2:], parent=context, resilient_parsing=len(words) == 2)
    plan = made.params.get("plan")
    assert plan is None or plan in plan_names()


def test_there_are_commands_to_check() -> None:
    named = {words[1] for words in commands()}
    assert {"run", "show", "list", "doctor", "peers", "compare", "plot"} <= named


def test_every_workload_and_kind_of_plot_exists() -> None:
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.runner.drivers import find_drivers
    from clonometer.views.pictures import KINDS

    catalogue = read_catalogue(find_drivers().descriptions)
    for words in commands():
        assert [
            word for word in words if re.match(r"(launch|wake|clock)\.", word) and word not in catalogue.workloads
        ] == []
        settings = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
        assert all(setting.partition("=")[0] in catalogue.axes for setting in settings)
        kinds = [words[at + 1] for at, word in enumerate(words) if word == "--kind"]
        assert set(kinds) <= set(KINDS)


def test_every_make_target_and_file_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = {match.group(1) for line in code() if (match := re.match(r"make (\w+)", line))}
    assert {"run", "test", "bench"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    named = [text for text in code() if re.fullmatch(r"docs/[\w./-]*|[A-Z]+\.md", text)]
    assert "docs/limits.md" in named
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def test_the_answer_stands_between_its_markers_and_is_one() -> None:
    assert [README.count(marker) for marker in MARKERS] == [1, 1]
    answer = README[README.index(MARKERS[0]) : README.index(MARKERS[1])]
    assert "95% interval" in answer
    assert "\x1b" not in answer
    assert max(map(len, answer.splitlines())) <= 80


def test_the_python_lines_run() -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    lines = block.group(1).strip()
    assert sum(bool(line) for line in lines.splitlines()) == 4
    stored = REPOSITORY / "tests/data/schema1.parquet"
    names: dict = {}
    exec(lines.replace("clonometer-run.parquet", str(stored)), names)
    assert names["table"].num_rows > 0
    assert any(median for median in names["medians"].values())


# Folders whose README names every file.
LISTED = ("docs", "publications", "requirements", "tools")
FOLDERS = sorted(
    path.parent
    for place in ("bench", "core", "docs", "drivers", "publications", "requirements", "src", "tests", "tools")
    for path in (REPOSITORY / place).rglob("README.md")
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(REPOSITORY)))
def test_every_file_that_a_folders_readme_names_is_there(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./*-]+(?:\.(?:py|c|h|md|sh|in|txt|toml|json|parquet)|/))`", text)
    lost = [name for name in named if not any(any(base.glob(name.rstrip("/"))) for base in (folder, REPOSITORY))]
    below = [name for name in lost if not any(folder.rglob(Path(name).name))]
    assert not below


@pytest.mark.parametrize("name", LISTED)
def test_a_folders_readme_names_every_file(name: str) -> None:
    folder = REPOSITORY / name
    text = (folder / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in folder.iterdir() if path.is_file() and path.suffix} - {"README.md"}
    assert {file for file in files if f"`{file}`" not in text} == set()


def test_every_program_that_the_makefile_starts_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"tools/\w+\.(?:py|sh)", makefile))
    assert "tools/lint.sh" in named
    assert sorted(name for name in named if not (REPOSITORY / name).exists()) == []
