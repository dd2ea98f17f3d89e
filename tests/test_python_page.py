"""docs/python.md does what it says, and docs/api.md is current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.api import reference

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
