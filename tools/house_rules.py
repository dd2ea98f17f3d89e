"""House rules that no linter knows: lengths of files and functions of C, names, nothing of this machine in the text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

MOST_LINES = 450
MOST_FUNCTION_LINES = 60
SOURCES = {".py", ".c", ".h", ".cpp", ".hpp", ".sh", ".html", ".css", ".js", ".j2"}
# An address belongs in no lock and no configuration; links to documentation in prose may stand.
ADDRESS_FILES = re.compile(r"(requirements/|\.lock$|Makefile$|pyproject\.toml$|\.ci/|CMakeLists\.txt$)")
ADDRESS = re.compile(r"https?://")
# Words that name nothing: a variable is called after what it holds.
EMPTY_NAMES = {"one", "own", "found", "said", "told", "here", "there"}
NAMED_ROOTS = ("src/", "bench/", "drivers/", "tools/")


def tracked() -> list[Path]:
    """Files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.splitlines() if Path(name).is_file()]


def long_c_functions(path: Path, lines: list[str]) -> list[str]:
    """C functions that are longer than they should be: from an opening brace that ends a line to one in column 0."""
    long, start = [], None
    for number, line in enumerate(lines, 1):
        if start is None and line.endswith("{") and line[:1].isalpha() and "(" in line:
            start = number
        elif line.startswith("}") and start is not None:
            if number - start > MOST_FUNCTION_LINES:
                long.append(f"{path}:{start}: a function of {number - start} lines")
            start = None
    return long


def empty_names(path: Path, tree: ast.Module) -> Iterator[str]:
    """Variables, arguments and attributes that are called by a word which names nothing."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.Attribute(attr=name, ctx=ast.Store()):
                if name.strip("_") in EMPTY_NAMES:
                    yield f"{path}:{node.lineno}: {name!r} does not say what it holds"


def shared_names(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Public classes of the package that have one name."""
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path}:{node.lineno}")
    for name, shared in places.items():
        if len(shared) > 1:
            yield f"{shared[0]}: there is another class {name}: {', '.join(shared[1:])}"


def name_faults(paths: Iterable[Path]) -> list[str]:
    """What the names of Python do against the rules."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if path.suffix == ".py" and str(path).startswith(NAMED_ROOTS)
    }
    empty = [fault for path, tree in trees.items() for fault in empty_names(path, tree)]
    return [*empty, *shared_names({path: tree for path, tree in trees.items() if path.parts[0] == "src"})]


def faults(path: Path) -> list[str]:
    """What one file does against the rules."""
    if path.suffix not in SOURCES and not ADDRESS_FILES.search(str(path)):
        return []
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    broken = []
    if path.suffix in SOURCES and len(lines) > MOST_LINES:
        broken.append(f"{path}: {len(lines)} lines; {MOST_LINES} at most")
    if path.suffix == ".c":
        broken += long_c_functions(path, lines)
    if ADDRESS_FILES.search(str(path)):
        broken += [f"{path}:{i}: an address" for i, line in enumerate(lines, 1) if ADDRESS.search(line)]
    folder = f"{Path.cwd()}/"
    broken += [f"{path}:{i}: a path of this machine" for i, line in enumerate(lines, 1) if folder in line]
    return broken


def main() -> int:
    """Print every fault; 1 if there is one."""
    paths = tracked()
    broken = [*(fault for path in paths for fault in faults(path)), *name_faults(paths)]
    sys.stdout.writelines(f"{fault}\n" for fault in broken)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
