"""``python -m tools.frozen compare REVISION``: what users see differently since then. ``write FOLDER``: this tree's.

Both trees run with this tree's Python packages and compiled programs; each with its own sources and tests. Names of
files that differ are printed, and the status is 1 if any does. Give ``--diff`` to read the differences, and ``--only
WORD`` for the commands and tests that have a word in their name.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_TREE = Path(__file__).parents[2]
#: Tests whose views are recorded; none of them measures.
_SHOWING = ("tests/views", "tests/tracing", "tests/prediction", "tests/studies", "tests/results/peers")


def write(folder: Path, only: str) -> None:
    """Write what this tree shows into a new folder: all that has a word in its name."""
    from tools.frozen.commands import write_outputs
    from tools.frozen.inputs import write_inputs
    from tools.frozen.recorder import FOLDER

    folder.mkdir(parents=True)
    for name in ("commands", "views"):
        (folder / name).mkdir()
    # The same path for both trees: it stands in messages.
    inputs = folder.with_name("inputs")
    inputs.mkdir()
    write_inputs(inputs)
    write_outputs(inputs, folder / "commands", only)
    shutil.rmtree(inputs)
    environment = {**os.environ, FOLDER: str(folder / "views")}
    options = ("-q", "-p", "no:randomly", "-p", "tools.frozen.recorder", "-k", only)
    tests = [sys.executable, "-m", "pytest", *options, *_SHOWING]
    subprocess.run(tests, cwd=_TREE, env=environment, check=False, stdout=subprocess.DEVNULL)


def compare(revision: str, only: str, *, diff: bool) -> int:
    """Write both trees' and name what differs; the status is 1 where something does."""
    with tempfile.TemporaryDirectory() as scratch:
        old = Path(scratch, "old")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", old, revision], cwd=_TREE, check=True)
        try:
            for tree, folder in ((old, "before"), (_TREE, "now")):
                search = os.pathsep.join([str(tree / "src"), str(tree)])
                command = [sys.executable, "-P", "-m", "tools.frozen", "write", str(Path(scratch, folder))]
                command += ["--only", only] if only else []
                subprocess.run(command, cwd=tree, env={**os.environ, "PYTHONPATH": search}, check=True)
            return _tell(Path(scratch, "before"), Path(scratch, "now"), diff=diff)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", old], cwd=_TREE, check=True)


def _tell(before: Path, now: Path, *, diff: bool) -> int:
    names = sorted({path.relative_to(root) for root in (before, now) for path in root.rglob("*") if path.is_file()})
    differing = [name for name in names if not _are_equal(before / name, now / name)]
    for name in differing:
        print(name)
        if diff:
            subprocess.run(["diff", "-N", "-U1", before / name, now / name], check=False)
    print(f"{len(names)} files, {len(differing)} differ")
    return 1 if differing else 0


def _are_equal(before: Path, now: Path) -> bool:
    return before.exists() and now.exists() and filecmp.cmp(before, now, shallow=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tools.frozen", description=__doc__)
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("where", help="an empty folder, or a revision of git")
    parser.add_argument("--diff", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD")
    asked = parser.parse_args()
    if asked.what == "compare":
        sys.exit(compare(asked.where, asked.only, diff=asked.diff))
    write(Path(asked.where), asked.only)
