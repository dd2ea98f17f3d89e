"""Which test files `make test` runs whole: those of what has changed since `main`, by folders."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).parents[1]
REAL = "tests/integration/test_"
#: Wherever it is decided what users read.
SNAPSHOTS = "tests/snapshots/test_snapshots.py"
#: What matches the whole beginning of a changed file's path, and the tests of it; `\1` is what the first group matched.
TESTS_OF: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(tests/.*test_\w+\.py)$", (r"\1",)),
    (r"tests/(\w+)/conftest\.py", (r"tests/\1/**/test_*.py",)),
    (r"core/census/", (f"{REAL}census*.py",)),
    (r"core/(events|tracer)/", (f"{REAL}explain*.py", f"{REAL}census.py", f"{REAL}stamps.py", f"{REAL}flags.py")),
    (r"core/guardian/", (f"{REAL}guardian.py", f"{REAL}putting_back.py", f"{REAL}frequency.py")),
    (r"core/hooks/", (f"{REAL}census_hooks.py", f"{REAL}hooks*.py")),
    (r"core/(base|probe)/", (f"{REAL}probe.py", f"{REAL}launches.py", f"{REAL}conditions.py", f"{REAL}refused.py")),
    (r"core/targets/", (f"{REAL}program*.py", f"{REAL}predict.py", f"{REAL}ab.py")),
    (r"core/workloads/(\w+?)(?:er|es|s)?/", (rf"{REAL}\1*.py", f"{REAL}launches.py", f"{REAL}plans.py")),
    (r"drivers/(\w+)/", (f"{REAL}conformance.py", rf"{REAL}*\1*.py")),
    (r"src/clonometer/(?:cli/commands|app|lab|studies|prediction)/(?:.*/)?(\w+)\.py", (r"tests/*/test_\1*.py",)),
    (r"src/clonometer/runner/hooks/", (f"{REAL}census_hooks.py", f"{REAL}hooks*.py")),
    (r"src/clonometer/runner/start_methods/", (f"{REAL}start_method.py",)),
    (r"src/clonometer/launch_paths/", (f"{REAL}launch_paths.py",)),
    (r"src/clonometer/fleet/", (f"{REAL}fleet*.py",)),
    (r"src/clonometer/views/html/", ("tests/browser/test_*.py",)),
    (r"src/clonometer/(?:views|results|families|tracing|words)", (SNAPSHOTS,)),
    (r"src/clonometer/(\w+)/", (r"tests/\1/**/test_*.py",)),
    (r"src/clonometer/(\w+)\.py", (r"tests/test_\1*.py",)),
    (r"(?:docs/.*|\w+)\.(?:md|html|json)$", ("tests/test_*.py", f"{REAL}readme_commands.py")),
    (r"tools/(\w+)", (r"tests/tools/test_\1*.py",)),
    (r"publications/(\w+)", (r"tests/publications/test_\1*.py",)),
    (r"(?:Makefile|\.ci/run|requirements/.*)$", ("tests/tools/test_*.py",)),
)


def of(paths: Iterable[str]) -> set[str]:
    """The test files of changed files, that exist."""
    patterns = {
        match.expand(pattern)
        for path in paths
        for beginning, tests in TESTS_OF
        if (match := re.match(beginning, path))
        for pattern in tests
    }
    return {str(path.relative_to(PROJECT)) for pattern in patterns for path in PROJECT.glob(pattern)}


def since_main() -> list[str]:
    """What differs from where this branch left `main`, committed or not; nothing where git knows of no `main`."""
    for main in ("origin/main", "main"):
        base = _git("merge-base", "HEAD", main)
        if base:
            changed = _git("diff", "--name-only", base[0])
            return changed + _git("ls-files", "--others", "--exclude-standard")
    return []


def _git(*words: str) -> list[str]:
    ended = subprocess.run(["git", *words], cwd=PROJECT, check=False, capture_output=True, text=True)
    return ended.stdout.splitlines() if ended.returncode == 0 else []
