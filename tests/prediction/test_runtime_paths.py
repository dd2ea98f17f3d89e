"""How the runtime of a process launches: narrowed to its version and user, what copies first."""

from __future__ import annotations

import pytest

from clonometer.host.target.runtime import Runtime
from clonometer.launch_paths.reading import load_book
from clonometer.prediction.runtime_paths import runtime_paths

BOOK = load_book()


def options(runtime: str, version: str | None, api: str, *, is_root: bool = True) -> dict[str, list[str]]:
    """Of an API: the options by mechanism."""
    paths = runtime_paths(Runtime(runtime, version, "/bin/x"), BOOK, is_root=is_root)
    assert paths is not None
    return {each.mechanism: list(each.options) for each in paths.launches if each.api == api}


def test_options_of_one_path_are_one_entry_and_what_copies_is_first() -> None:
    paths = runtime_paths(Runtime("python", "3.11", "/bin/x"), BOOK, is_root=True)
    assert paths is not None
    copies = [each.copies for each in paths.launches]
    assert copies == sorted(copies, reverse=True)
    assert True in copies
    assert False in copies
    popen = options("python", "3.11", "subprocess.run, Popen")
    assert {"user=", "preexec_fn="} <= set(popen["fork"])
    assert {"", "cwd="} <= set(popen["vfork"])


def test_an_older_version_takes_another_path() -> None:
    assert "" in options("python", "3.9", "subprocess.run, Popen")["fork"]
    assert "" not in options("python", "3.11", "subprocess.run, Popen")["fork"]


@pytest.mark.parametrize(("is_root", "mechanism"), [(True, "fork"), (False, "vfork")])
def test_what_only_root_or_only_others_take_is_left_out(is_root: bool, mechanism: str) -> None:
    paths = runtime_paths(Runtime("ruby", "3.1.2", "/bin/x"), BOOK, is_root=is_root)
    assert paths is not None
    system = {each.mechanism for each in paths.launches if each.api.startswith("system")}
    assert mechanism in system


def test_a_runtime_that_the_book_does_not_have_has_no_paths() -> None:
    assert runtime_paths(Runtime("cobol", "1", "/bin/x"), BOOK, is_root=True) is None
