"""The languages of start-method: how their commands are read, and what is refused."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from clonometer.app.start_method import start_method
from clonometer.errors import CommandError, NotStartedError, UsageError
from clonometer.runner.start_methods.languages import find_start_languages, language_of, split_command
from clonometer.runner.start_methods.running import check_imports, identify_program, run_trial

LANGUAGES = find_start_languages()


def test_every_language_has_its_trial_its_methods_and_its_cases() -> None:
    assert [each.name for each in LANGUAGES] == ["node", "python", "ruby"]
    for language in LANGUAGES:
        files = [word.removeprefix("{folder}/") for word in language.run if word.startswith("{folder}/")]
        assert len(files) == 1
        text = (language.folder / files[0]).read_text(encoding="utf-8")
        for name in [*language.methods, *language.cases]:
            is_tried_apart = language.unguarded is not None and name == language.unguarded.case
            assert is_tried_apart or re.search(rf"\b{name}\b", text), name


@pytest.mark.parametrize(
    ("program", "name"),
    [("/opt/py/bin/python3.14t", "python"), ("pypy3", "python"), ("nodejs", "node"), ("./ruby3.1", "ruby")],
)
def test_the_name_of_a_runtime_says_its_language(program: str, name: str) -> None:
    assert language_of(program).name == name


def test_a_link_to_a_runtime_is_one_and_an_unknown_program_is_refused_with_the_languages_that_are_known(
    tmp_path: Path,
) -> None:
    (tmp_path / "node22").touch()
    (tmp_path / "mine").symlink_to(tmp_path / "node22")
    assert language_of(str(tmp_path / "mine")).name == "node"
    with pytest.raises(UsageError) as refused:
        language_of("perl")
    assert all(each.title in refused.value.message for each in LANGUAGES)


@pytest.mark.parametrize(
    "words",
    [
        ["python", "script.py"],
        ["python", "-c"],
        ["python", "-c", "1", "x"],
        ["node", "-c", "1"],
        ["node", "server.js"],
        ["ruby", "-e"],
    ],
)
def test_what_is_no_command_with_code_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        split_command(language_of(words[0]), words)


def test_options_that_take_a_word_are_not_taken_for_code() -> None:
    words = ["node", "-r", "./first", "--input-type=module", "--eval", "import 'x'"]
    assert split_command(language_of("node"), words) == (words[:4], "import 'x'")
    assert split_command(language_of("ruby"), ["ruby", "-I", "lib", "-e", "1"]) == (["ruby", "-I", "lib"], "1")


@pytest.mark.parametrize(("program", "module"), [("python3", "x;y"), ("node", "a'b"), ("ruby", "x y")])
def test_what_is_no_name_of_a_module_is_refused(program: str, module: str) -> None:
    with pytest.raises(UsageError, match="not the name of a module"):
        language_of(program).imports([module])


def test_an_import_that_nobody_waits_for_is_refused() -> None:
    with pytest.raises(UsageError, match="before the module is loaded"):
        identify_program(language_of("node"), ["node"], "import('x')")
    assert not re.search(language_of("node").refused.pattern, "await import('x')")  # type: ignore[union-attr]


def _pretend(folder: Path, version: str, code: str = "") -> Path:
    """Make a program that says that it is a Python of this version, and is this one otherwise."""
    answer = json.dumps([version, "CPython", "fork", "no GIL"])
    program = folder / "python3"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n{code}\n"
        f"if 'json.dumps' in sys.argv[2]: print({answer!r})\n"
        f"else: os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])\n"
    )
    program.chmod(0o755)
    return program


def test_a_runtime_that_is_too_old_is_refused_with_the_oldest_version(tmp_path: Path) -> None:
    program = _pretend(tmp_path, "3.7.9")
    with pytest.raises(UsageError, match=r"3\.7\.9, which is too old") as refused:
        identify_program(language_of("python3"), [str(program)], "")
    assert "3.8" in (refused.value.hint or "")


def test_a_free_threaded_python_is_known_as_one(tmp_path: Path) -> None:
    program = identify_program(language_of("python3"), [str(_pretend(tmp_path, "3.14.0"))], "")
    assert (program.version, program.lock) == ("3.14.0", "no GIL")


def test_an_import_that_fails_is_quoted_by_the_line_that_says_why() -> None:
    program = identify_program(language_of("python3"), [sys.executable], "import nothing_of_this_name")
    with pytest.raises(CommandError, match="ModuleNotFoundError: No module named"):
        check_imports(program)


def test_a_trial_that_lacks_memory_says_so_and_where() -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))"
    program = identify_program(language_of("python3"), [sys.executable], code)
    trial = run_trial(program, "thread", "times", data_mb=1024, workers=1, timeout_s=60)
    assert "MemoryError" in (trial.failure or "")
    assert trial.values["step"] == "making the data"


def test_a_runtime_that_is_not_here_is_named_with_the_package_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(NotStartedError) as refused:
        start_method(["ruby", "-e", "1"])
    assert "cannot find ruby" in refused.value.message
    assert "package ruby" in str(refused.value.hint)
