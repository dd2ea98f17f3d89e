"""How the runtime of a process launches: the book of launch paths, narrowed to its version and user.

What a caller waits for is the kernel's part, which depends on the process, and the runtime's own work, which was
measured in a process without a heap (`clonometer.launch_paths.own_work`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clonometer.host.target.runtime import Runtime
from clonometer.launch_paths.own_work import OwnWork, OwnWorks
from clonometer.launch_paths.types import LaunchPath, PathBook
from clonometer.prediction.answer import Predicted, RuntimeLaunches, RuntimePaths
from clonometer.prediction.spans import PredictedTime

#: What a line needs that only the user decides.
_ROOT, _NOT_ROOT = "root", "not root"
#: Other machines and versions are taken to do a runtime's own work within this factor.
_OWN_FACTOR = 2.0


def runtime_paths(
    runtime: Runtime, book: PathBook, predicted: Predicted, works: OwnWorks, *, is_root: bool
) -> RuntimePaths | None:
    """Say what each API of a process's runtime does; None where the book does not have the runtime.

    Lines of one API that take one path are one entry. What copies the memory map comes first.
    """
    known = book.find(runtime.name)
    if known is None:
        return None
    refused = _NOT_ROOT if is_root else _ROOT
    paths = known.paths if runtime.version is None else known.of_version(runtime.version)
    entries = _entries([path for path in paths if refused not in path.needs], works.runtimes.get(known.name, {}))
    launches = [entry.launches(predicted) for entry in entries]
    launches.sort(key=lambda each: not each.copies)
    return RuntimePaths(runtime.name, known.title, runtime.version, launches)


@dataclass
class _Entry:
    """Lines of one API that take one path."""

    api: str
    mechanism: str
    copies: bool
    executes: bool
    work: OwnWork | None = None
    options: list[str] = field(default_factory=list)

    def launches(self, predicted: Predicted) -> RuntimeLaunches:
        """The entry of the answer."""
        kernel = self._kernel(predicted)
        own_ns = None if self.work is None else self.work.own_ns * predicted.basis.scales.cold.factor
        if kernel is not None and own_ns is not None:
            kernel = kernel.plus(own_ns / _OWN_FACTOR, own_ns, own_ns * _OWN_FACTOR)
        return RuntimeLaunches(self.api, self.options, self.mechanism, self.copies, kernel, own_ns)

    def _kernel(self, predicted: Predicted) -> PredictedTime | None:
        """What the kernel takes of it."""
        if not self.copies:
            spawned = predicted.posix_spawn_ns or predicted.vfork_ns
            return None if spawned is None else spawned.stretched(predicted.basis.stretches)
        is_exec_awaited = self.executes and (self.work is None or self.work.until == "exec")
        return predicted.waits.until_exec_ns if is_exec_awaited else predicted.waits.call_ns


def _entries(paths: Iterable[LaunchPath], works: Mapping[str, OwnWork]) -> Iterable[_Entry]:
    entries: dict[tuple[str, str, bool, bool], _Entry] = {}
    for path in paths:
        # Of a launch with several tasks the one that copies is what its caller pays for.
        task = next((each for each in path.tasks if each.copies), None) or next(iter(path.tasks), None)
        if task is not None:
            key = (path.api, task.mechanism, task.copies, bool(task.programs))
            entry = entries.setdefault(key, _Entry(*key))
            entry.options.append(path.option)
            entry.work = entry.work or works.get(path.name)
    return entries.values()
