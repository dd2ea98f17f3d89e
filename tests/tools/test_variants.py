"""`make variants`: what a line says, and that the tests it names are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import variants

PROJECT = Path(__file__).parents[2]
JUNIT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><skipped message="no room: 12345 bytes of 67890"/></testcase>
<testcase name="c"><skipped message="no room: 54321 bytes of 67890"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize("name", variants.VARIANTS)
def test_every_test_that_is_named_is_there(name: str) -> None:
    variant = variants.VARIANTS[name]
    for test in (*variant.tests, *variant.left_out):
        path, _, function = test.partition("::")
        assert (PROJECT / path).exists()
        assert not function or f"def {function}(" in (PROJECT / path).read_text()
    run = [test.partition("::")[0] for test in variant.tests]
    assert all(any(test.startswith(path) for path in run) for test in variant.left_out)


def test_a_line_counts_and_says_why(tmp_path: Path) -> None:
    written = tmp_path / "junit.xml"
    written.write_text(JUNIT)
    line = variants.counted(written, {"tests/a.py::test_d": "no reason"})
    assert line == "1 passed, 2 skipped: 2 no room: N bytes of N; left out test_d: no reason"


def test_what_cannot_be_made_says_so_and_a_failure_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.CompletedProcess([], variants.NOT_POSSIBLE, stdout="only root can make it\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    assert variants.run("one-cpu") == (True, "not possible here: one-cpu: only root can make it")
    ended.returncode = 1
    sound, line = variants.run("one-cpu")
    assert not sound
    assert "FAILED  one-cpu" in line


def test_a_variant_that_does_not_exist_is_a_usage_error() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tools.variants", "moon"], cwd=PROJECT, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "no such variant: moon" in ended.stderr
