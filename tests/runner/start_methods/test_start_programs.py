"""The Python of start-method: how its command is read, and what is refused."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from clonometer.app.start_method import start_method
from clonometer.errors import CommandError, NotStartedError, UsageError
from clonometer.runner.start_methods import program as program_module
from clonometer.runner.start_methods.program import (
    CASES,
    GUARD,
    METHODS,
    check_imports,
    code_that_imports,
    identify_program,
    is_python,
    split_command,
)
from clonometer.runner.start_methods.running import run_trial


def test_the_trial_has_every_method_and_case() -> None:
    text = Path(program_module.__file__).with_name("trial.py").read_text(encoding="utf-8")
    for name in [*METHODS, *CASES]:
        assert name == GUARD or re.search(rf"\b{name}\b", text), name


def test_a_python_is_known_by_its_name_or_by_that_of_what_it_is_a_link_to(tmp_path: Path) -> None:
    assert is_python("/opt/py/bin/python3.14t")
    assert is_python("pypy3")
    assert not is_python("perl")
    (tmp_path / "python3.12").touch()
    (tmp_path / "mine").symlink_to(tmp_path / "python3.12")
    assert is_python(str(tmp_path / "mine"))


@pytest.mark.parametrize("words", [["python", "script.py"], ["python", "-c"], ["python", "-c", "1", "x"]])
def test_what_is_no_command_with_code_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        split_command(words)


def test_options_that_take_a_word_are_not_taken_for_code() -> None:
    words = ["python", "-W", "error", "-Xdev", "-c", "import x"]
    assert split_command(words) == (words[:4], "import x")


def test_what_is_no_name_of_a_module_is_refused() -> None:
    with pytest.raises(UsageError, match="not the name of a module"):
        code_that_imports(["x;y"])
    assert code_that_imports(["a.b", "c"]) == "import a.b\nimport c"


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
        identify_program([str(program)], "")
    assert "3.8" in (refused.value.hint or "")


def test_a_free_threaded_python_is_known_as_one(tmp_path: Path) -> None:
    program = identify_program([str(_pretend(tmp_path, "3.14.0"))], "")
    assert (program.version, program.lock) == ("3.14.0", "no GIL")


def test_an_import_that_fails_is_quoted_by_the_line_that_says_why() -> None:
    program = identify_program([sys.executable], "import nothing_of_this_name")
    with pytest.raises(CommandError, match="ModuleNotFoundError: No module named"):
        check_imports(program)


def test_a_trial_that_lacks_memory_says_so_and_where() -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))"
    program = identify_program([sys.executable], code)
    trial = run_trial(program, "thread", "times", data_mb=1024, workers=1, timeout_s=60)
    assert "MemoryError" in (trial.failure or "")
    assert trial.values["step"] == "making the data"


def test_a_python_that_is_not_here_is_named_with_the_package_that_brings_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(NotStartedError) as refused:
        start_method(["python3", "-c", "1"])
    assert "cannot find python3" in refused.value.message
    assert "package python3" in str(refused.value.hint)
