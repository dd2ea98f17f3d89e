"""House rules that no linter knows: lengths of files and functions of C, and nothing of this machine in the text."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MOST_LINES = 450
MOST_FUNCTION_LINES = 60
SOURCES = {".py", ".c", ".h", ".cpp", ".hpp", ".sh", ".html", ".css", ".js", ".j2"}
# An address belongs in no lock and no configuration; links to documentation in prose may stand.
ADDRESS_FILES = re.compile(r"(requirements/|\.lock$|Makefile$|pyproject\.toml$|\.ci/|CMakeLists\.txt$)")
ADDRESS = re.compile(r"https?://")


def tracked() -> list[Path]:
    """Files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.splitlines() if Path(name).is_file()]


def long_c_functions(path: Path, lines: list[str]) -> list[str]:
    """C functions that are longer than they should be: from an opening brace that ends a line to one in column 0."""
    found, start = [], None
    for number, line in enumerate(lines, 1):
        if start is None and line.endswith("{") and line[:1].isalpha() and "(" in line:
            start = number
        elif line.startswith("}") and start is not None:
            if number - start > MOST_FUNCTION_LINES:
                found.append(f"{path}:{start}: a function of {number - start} lines")
            start = None
    return found


def faults(path: Path) -> list[str]:
    """What one file does against the rules."""
    if path.suffix not in SOURCES and not ADDRESS_FILES.search(str(path)):
        return []
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = []
    if path.suffix in SOURCES and len(lines) > MOST_LINES:
        found.append(f"{path}: {len(lines)} lines; {MOST_LINES} at most")
    if path.suffix == ".c":
        found += long_c_functions(path, lines)
    if ADDRESS_FILES.search(str(path)):
        found += [f"{path}:{i}: an address" for i, line in enumerate(lines, 1) if ADDRESS.search(line)]
    here = str(Path.cwd())
    found += [f"{path}:{i}: a path of this machine" for i, line in enumerate(lines, 1) if here + "/" in line]
    return found


def main() -> int:
    """Print every fault; 1 if there is one."""
    found = [fault for path in tracked() for fault in faults(path)]
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
