"""Break each line of the package that has changed since a revision, in a copy; name the breaks that no test notices.

``python -m tools.mutate_change COSMIC_RAY_BIN BASE SECONDS``: cosmic-ray makes the mutants, and the tests that
`make test` runs whole after such a change must notice them. It tries as many as there is time for, and names those
that live.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests import changed
from tools.mutations import FOLDER, PYTHON, ROOT, TREE, make_copy, run

SESSION, CONFIG = FOLDER / "change.sqlite", FOLDER / "change.toml"
TEST_SECONDS = 120.0
# Of docstrings, in whatever module.
EXAMPLES = "tests/test_docs.py::test_examples_are_true"


def changed_sources(base: str) -> list[str]:
    """Ask git for the modules of the package that differ from a revision."""
    words = ["git", "diff", "--name-only", "--diff-filter=d", base, "--", "src/clonometer"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.splitlines() if name.endswith(".py")]


def config(sources: Sequence[str], tests: Sequence[str], base: str) -> str:
    """What cosmic-ray is told: real launches would take too long."""
    python = str(PYTHON / "bin" / "python")
    command = [python, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", "not real", *tests]
    return (
        f"[cosmic-ray]\nmodule-path = {json.dumps(list(sources))}\ntimeout = {TEST_SECONDS}\nexcluded-modules = []\n"
        f"test-command = {json.dumps(shlex.join(command))}\n"
        f'[cosmic-ray.distributor]\nname = "local"\n[cosmic-ray.filters.git-filter]\nbranch = {json.dumps(base)}\n'
    )


def outcomes(dump: str) -> tuple[Counter[str], list[str]]:
    """Count what became of the mutants that cosmic-ray lists, and say of each that lives what it was."""
    counted: Counter[str] = Counter()
    survivors = []
    for row in dump.splitlines():
        item, result = json.loads(row)
        if result is None:
            counted["not tried"] += 1
        elif result["worker_outcome"] == "normal":
            counted[result["test_outcome"]] += 1
            if result["test_outcome"] == "survived":
                (mutation,) = item["mutations"]
                place = f"{mutation['module_path']}:{mutation['start_pos'][0]}"
                name = mutation["operator_name"].removeprefix("core/")
                lines = [line for line in (result["diff"] or "").splitlines() if re.match(r"[+-](?![+-]{2})", line)]
                survivors.append("\n    ".join([f"SURVIVED: {place}: {name}", *lines]))
    return counted, survivors


def main(words: Sequence[str]) -> int:
    """Print each survivor, then how many were tried; 1 if one lives."""
    bin_folder, base, seconds = Path(words[0]).resolve(), words[1], int(words[2])
    sources = changed_sources(base)
    tests = sorted({*changed.of(sources), EXAMPLES})
    if not sources:
        print(f"nothing of the package differs from {base}")
        return 0
    print(f"{len(sources)} modules differ from {base}; {len(tests)} files of tests are asked", flush=True)
    make_copy()
    CONFIG.write_text(config(sources, tests, base), encoding="utf-8")
    SESSION.unlink(missing_ok=True)
    # The copy has no repository of its own.
    git = {"GIT_DIR": str(ROOT / ".git"), "GIT_WORK_TREE": str(TREE)}
    ray = bin_folder / "cosmic-ray"
    steps: list[list[str | Path]] = [
        [ray, "init", CONFIG, SESSION],
        [bin_folder / "cr-filter-git", SESSION, "--config", CONFIG],
        [ray, "baseline", CONFIG],
    ]
    for command in steps:
        status, output = run(command, seconds, **git)
        if status != 0:
            raise SystemExit(f"mutate-change: {' '.join(map(str, command[:2]))}\n{output[-4000:]}")
    run([ray, "exec", CONFIG, SESSION], seconds, PATH=os.environ.get("PATH", os.defpath))
    counted, survivors = outcomes(run([ray, "dump", SESSION], seconds)[1])
    for survivor in survivors:
        print(survivor)
    print(", ".join(f"{number} {what}" for what, number in sorted(counted.items())) or "no mutant")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
