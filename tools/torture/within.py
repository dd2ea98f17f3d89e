"""``within.py HOW [--test] FILE`` runs a program in Python here, alone or while its launches are counted.

With ``--test`` it is a test of pytest, for whose plug-in the same holds.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

from clonometer import launches_during

HOW, FILE = sys.argv[1], sys.argv[-1]


def run_as_block() -> None:
    """Run the program as a script in a block that counts, or in one that does not."""
    sys.argv[:] = [FILE]
    module = sys.modules["__main__"]
    with contextlib.nullcontext() if HOW == "alone" else launches_during():
        exec(compile(Path(FILE).read_text(encoding="utf-8"), FILE, "exec", dont_inherit=True), module.__dict__)


def run_as_test() -> None:
    """Run the program as the only test of a session, with or without counting."""
    text = Path(FILE).read_text(encoding="utf-8").partition("\n")[2]
    body = "".join(f"    {line}\n" for line in text.splitlines())
    Path("test_program.py").write_text(f"def test_program():\n{body}", encoding="utf-8")
    options = [] if HOW == "alone" else ["--launches", "5"]
    sys.exit(pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *options, "test_program.py"]))


if __name__ == "__main__":
    run_as_test() if "--test" in sys.argv else run_as_block()
