"""What ``make mutations`` would change stands there once: no rename leaves it with nothing to change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tools.mutations import Mutant, Verdict

from tools import mutations

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", mutations.mutants(), ids=lambda mutant: mutant.name)
def test_its_text_and_its_tests_are_there(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new
    assert mutant.tests
    for test in mutant.tests:
        name = test.split("::")[0]
        of_core = ROOT / "core" / "test" / f"{name.removeprefix(mutations.CORE_TESTS)}.c"
        assert (of_core if name.startswith(mutations.CORE_TESTS) else ROOT / name).exists()


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy in which nothing is built: what would be run is said by the tests that are asked for."""
    monkeypatch.setattr(mutations, "TREE", tmp_path)
    for name in ("make_copy", "install"):
        monkeypatch.setattr(mutations, name, lambda: None)
    for mutant in mutations.mutants():
        path = tmp_path / mutant.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((ROOT / mutant.file).read_text(encoding="utf-8"), encoding="utf-8")


def tells(broken: bool, without: bool = False) -> object:
    """A test that fails where the copy is broken, and perhaps where it is not."""
    whole = {mutant.file: (ROOT / mutant.file).read_text(encoding="utf-8") for mutant in mutations.mutants()}

    def run(test: str | Sequence[str], *_: str) -> Verdict:
        is_whole = all((mutations.TREE / name).read_text(encoding="utf-8") == text for name, text in whole.items())
        fails = without if is_whole else broken
        return Verdict((test if isinstance(test, str) else test[0]) if fails else "", True)

    return run


@pytest.mark.parametrize(
    ("fails", "status", "says"),
    [
        ({"broken": True}, 0, "1 of 1 killed, 0 survived"),
        ({"broken": False}, 1, "SURVIVED: highest-cpu"),
        ({"broken": True, "without": True}, 1, "RED WITHOUT ANY MUTANT: core/test_trace_many_cpus"),
    ],
)
@pytest.mark.usefixtures("copy")
def test_it_says_whether_a_test_has_noticed(
    fails: dict[str, bool], status: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutations, "try_core_test", tells(**fails))
    assert mutations.main(["highest-cpu"]) == status
    assert says in capsys.readouterr().out
    assert (mutations.TREE / "core/events/cpus.c").read_text() == (ROOT / "core/events/cpus.c").read_text()


@pytest.mark.usefixtures("copy")
def test_a_name_that_no_mutant_has_is_refused() -> None:
    with pytest.raises(SystemExit, match="no mutant or file"):
        mutations.main(["nowhere"])
