"""How the runtime of a process launches: the book of launch paths, narrowed to its version and user."""

from __future__ import annotations

from collections.abc import Iterable

from clonometer.host.target.runtime import Runtime
from clonometer.launch_paths.types import LaunchPath, PathBook
from clonometer.prediction.answer import RuntimeLaunches, RuntimePaths

#: What a line needs that only the user decides.
_ROOT, _NOT_ROOT = "root", "not root"


def runtime_paths(runtime: Runtime, book: PathBook, *, is_root: bool) -> RuntimePaths | None:
    """Say what each API of a process's runtime does; None where the book does not have the runtime.

    Lines of one API that take one path are one entry. What copies the memory map comes first.
    """
    known = book.find(runtime.name)
    if known is None:
        return None
    refused = _NOT_ROOT if is_root else _ROOT
    paths = known.paths if runtime.version is None else known.of_version(runtime.version)
    launches = list(_launches(path for path in paths if refused not in path.needs))
    launches.sort(key=lambda each: not each.copies)
    return RuntimePaths(runtime.name, known.title, runtime.version, launches)


def _launches(paths: Iterable[LaunchPath]) -> Iterable[RuntimeLaunches]:
    options: dict[tuple[str, str, bool], list[str]] = {}
    for path in paths:
        # Of a launch with several tasks the one that copies is what its caller pays for.
        task = next((each for each in path.tasks if each.copies), None) or next(iter(path.tasks), None)
        if task is not None:
            options.setdefault((path.api, task.mechanism, task.copies), []).append(path.option)
    for (api, mechanism, copies), names in options.items():
        yield RuntimeLaunches(api, names, mechanism, copies)
