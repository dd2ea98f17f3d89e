"""What is read, is read by `clonometer.inputs`: within bounds, and with a sentence for whatever is wrong.

Elsewhere in the package files are opened to be read only where this says why. `json` and `tomllib` are kept out of it
by ruff (TID251), with the reason on the line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.rooms import PACKAGE

#: Who opens files otherwise, by the beginning of the path, and why nothing there can hang, or fill the memory.
EXEMPT = {
    "inputs.py": "all others read by it",
    "files.py": "it makes files, and locks them",
    "user_cache.py": "files that this user alone may write to, of a bounded size",
    "cli/streams.py": "standard streams",
    "host/": "files of the kernel below /proc and /sys, and the sources of programs, each bounded where it is read",
    "app/advising.py": "/proc/config.gz",
    "app/census.py": "two bytes of the program of a process",
    "tracing/marks.py": "the header of a program that is about to be executed",
    "lab/reading.py": "lessons that come with the package",
    "launch_paths/own_work.py": "what comes with the package",
    "studies/": "what comes with the package",
    "views/html/page.py": "scripts and styles that come with the package",
    "fleet/agent.py": "a run file that it has just written",
    "fleet/package.py": "the package itself",
    "fleet/remote_worker.py": "it travels alone to hosts where the package is not installed",
    "fleet/store.py": "run files that it has kept in a folder of the user's",
    "runfile/run.py": "a file that inputs has opened, once more for Arrow where there is no /proc",
    "runner/endings.py": "the counts of a control group",
    "runner/far.py": "programs of the package, which it brings to a host",
    "runner/hooks/": "its own channel; what runs within interpreters imports nothing of the package",
    "runner/languages/": "descriptions and sources of drivers, which come with the package",
    "runner/launches.py": "what a snippet that it has run complains of",
    "runner/leftovers.py": "folders",
    "runner/saved_settings.py": "notes of its own, of a bounded size; the kernel's number of this boot",
    "runner/settings.py": "settings of the kernel, bounded where they are read",
    "runner/start_methods/": "a program that runs alone",
}
_READ = {"read_text", "read_bytes"}
_OPEN = {"open", "fdopen"}


def reading_faults(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Places that read files past `clonometer.inputs`."""
    for path, tree in trees.items():
        if exemption_of(path) is None:
            for line in lines_that_read(tree):
                yield f"{path}:{line}: reads a file past clonometer.inputs (tools/reading_rules.py)"


def exemption_of(path: Path) -> str | None:
    """The entry of `EXEMPT` under which a file falls."""
    place = str(path).removeprefix(PACKAGE)
    return next((begin for begin in EXEMPT if place.startswith(begin)), None)


def lines_that_read(tree: ast.Module) -> list[int]:
    """The lines of calls that open a file to read it."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and _reads(node)]


def _reads(call: ast.Call) -> bool:
    """Whether a call opens something that can be read then; what only makes or writes a file says so in its mode."""
    words = ast.unparse(call)
    if words.startswith("gzip.open("):
        # Of a file that is open.
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr in _READ:
        return True
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _OPEN and not any(mode in words for mode in ("'w", "'a'", "'x", "O_WRONLY", "O_CREAT", "_APPEND"))
