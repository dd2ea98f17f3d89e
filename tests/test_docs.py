"""Pages say nothing that does not exist: README, CONTRIBUTING, the drawing of the architecture, glossary, Python."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest
import rich_click as click
from tools.api import reference

from clonometer.cli.group import app
from clonometer.families.common import STAGES
from clonometer.plan.shipped import plan_names
from clonometer.views.statistics import STATISTICS
from clonometer.words import PLACEMENT_NAMES

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
    assert "±95%" in answer
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


PAGE = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `([\w./]+)` \| (.*) \|$", PAGE, re.MULTILINE)
IN_C = [row for row in ROWS if row[1].endswith(".h")]
IN_PYTHON = [row for row in ROWS if row[1].startswith("clonometer.")]


def test_the_drawing_and_the_table_have_the_same_forms_in_the_same_order() -> None:
    [drawing] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert re.findall(r"^    (\w+)  ", drawing, re.MULTILINE) == [form for form, _, _ in ROWS]
    assert IN_C + IN_PYTHON == ROWS
    assert len(ROWS) > len(IN_C) > 0


@pytest.mark.parametrize(("form", "header", "made"), IN_C)
def test_a_form_of_c_is_a_struct_of_that_header(form: str, header: str, made: str) -> None:
    assert re.search(rf"^struct {form} {{$", (REPOSITORY / header).read_text(encoding="utf-8"), re.MULTILINE)
    assert all((REPOSITORY / path).exists() for path in re.findall(r"`(core/[\w./]+)`", made))


@pytest.mark.parametrize(("form", "module", "made"), IN_PYTHON)
def test_a_form_is_a_class_of_that_module_and_what_that_function_returns(form: str, module: str, made: str) -> None:
    assert resolve_name(f"{module}:{form}").__module__ == module
    module_name, _, maker = re.sub(r"`", "", made).rpartition(".")
    if module_name.rpartition(".")[2][0].isupper():  # a method
        module_name, _, class_name = module_name.rpartition(".")
        maker = f"{class_name}.{maker}"
    returned = inspect.signature(resolve_name(f"{module_name}:{maker}")).return_annotation
    assert re.search(rf"\b{form}\b", str(returned))


GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"


def explained() -> set[str]:
    """The terms of the first column; of one with a qualification in brackets the term alone."""
    cells = re.findall(r"^\| \*+(.+?)\*+ ?(?:\([^)]*\) )?\|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r" \(.*\)", "", term) for cell in cells for term in cell.split(", ")}


def test_every_word_of_a_table_is_in_the_glossary() -> None:
    columns = [statistic.heading for statistic in STATISTICS]
    shown = {*(stage.title for stage in STAGES), *columns, *PLACEMENT_NAMES.values()}
    assert shown - explained() == set()


def test_no_term_is_explained_twice() -> None:
    lines = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("| *")]
    terms = [term for line in lines for term in line.split("|")[1].strip(" *").split(", ")]
    assert sorted({term for term in terms if terms.count(term) > 1}) == []


CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]


def contract(name: str) -> dict[str, list[str]]:
    return next(each for each in CONTRACTS if each["name"] == name)


def test_its_floors_are_those_that_the_import_linter_checks() -> None:
    layers = contract("the floors, from cli down")["layers"]
    checked = [re.findall(r"clonometer\.(\w+)", layer) for layer in layers]
    floors = re.findall(r"^ {4}(\w.*)$", CONTRIBUTING.partition("## The walls")[2].partition("\n## ")[0], re.MULTILINE)
    assert [re.findall(r"\w+", floor) for floor in floors] == checked
    ignorant = contract("who counts, reads and stores knows no family of workloads")["source_modules"]
    sentence = re.search(r"^(.*) do not import `families`\.$", CONTRIBUTING, re.MULTILINE)
    assert sentence is not None
    assert re.findall(r"`(\w+)`", sentence[1]) == [module.removeprefix("clonometer.") for module in ignorant]


DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.real
def test_the_example_does_what_it_says(tmp_path: Path) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in script.splitlines() if line and not line.startswith("#")]) <= 24
    # Word for word, in a process that measures less of each target; but all four of them.
    hasty = "from tests.fakes import hasty; hasty.MOST_TARGETS = 4; hasty.hurry()\n"
    done = subprocess.run(
        [sys.executable, "-c", hasty + script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(DOCS.parent)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    medians = re.findall(r"^(launch\.\w+)\S*: [\d.]+ µs", done.stdout, re.MULTILINE)
    assert {"launch.fork", "launch.pthread"} <= set(medians)
    assert (tmp_path / "before.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "'reaped'" in done.stdout
    assert re.search(r"^\{'\w+': '\d+%'", done.stdout, re.MULTILINE)
    assert re.search(r"^2 tasks by \['v?fork'\]$", done.stdout, re.MULTILINE)
    assert re.search(r"^[\d.]+ ms$", done.stdout, re.MULTILINE)


def test_the_reference_of_the_api_is_current() -> None:
    assert (DOCS / "api.md").read_text(encoding="utf-8") == reference(), "make docs writes it anew"


PACKAGE = Path(__file__).parents[1] / "src" / "clonometer"
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(name)
    # Where an example defines a record, its types are looked up in its module.
    place = ModuleType("examples")
    monkeypatch.setitem(sys.modules, "examples", place)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        vars(place).clear()
        vars(place).update({**vars(module), "__name__": "examples"})
        example.globs = vars(place)
        runner.run(example, out=report.append, clear_globs=False)
    assert runner.tries, "its examples are in no docstring"
    assert not runner.failures, "".join(report)
