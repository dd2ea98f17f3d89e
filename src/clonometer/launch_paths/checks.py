"""What a check of the book says: each line of each version of a runtime that is on this machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from clonometer.launch_paths.types import PathBook, RuntimeBook, SeenLine, SeenVersion
from clonometer.records import Count, OneOf, version
from clonometer.verdicts import Status

#: What a check can say of a line.
VERDICTS = (Status.HOLDS, Status.FAILS, Status.UNKNOWN, Status.NOT_MEASURABLE)


@dataclass(frozen=True)
class CheckedLine:
    """What a check says of a line."""

    name: str
    verdict: Annotated[
        Status,
        OneOf(VERDICTS),
        "fails: the kernel saw something else; unknown: its snippet failed; not_measurable: the runtime, its version "
        "or what the line needs is not here.",
    ]
    saw: Annotated[tuple[str, ...], "The tasks that the kernel saw; empty where there were none, or nothing ran."] = ()
    threads: Count = 0
    calls: Annotated[tuple[str, ...] | None, "What the tasks did before their programs; null: not seen of all."] = None
    reason: Annotated[str | None, "What differs, why it failed, or what it needs; null: it is right."] = None


@dataclass(frozen=True)
class CheckedVersion:
    """What a check says of a version of a runtime."""

    runtime: str
    version: Annotated[str | None, "null: it is not on this machine."]
    program: str | None
    reason: Annotated[str | None, "What brings it, where it is not on this machine."]
    lines: tuple[CheckedLine, ...]

    def having(self, verdict: Status) -> list[CheckedLine]:
        """The lines of which a verdict was given."""
        return [line for line in self.lines if line.verdict is verdict]


@dataclass(frozen=True)
class CheckedBook:
    """What a check of the book says."""

    architecture: str
    kernel: str
    how: Annotated[str | None, "tracepoints or ptrace; null: nothing ran."]
    runtimes: tuple[CheckedVersion, ...]

    schema = version(1)

    @property
    def counts(self) -> Counter[Status]:
        """How many lines have each verdict."""
        return Counter(line.verdict for runtime in self.runtimes for line in runtime.lines)

    def seen(self, book: PathBook) -> list[SeenVersion]:
        """What was seen, of those lines whose snippets ran."""
        return [
            SeenVersion(
                each.runtime,
                each.version,
                self.architecture,
                self.kernel,
                self.how,
                tuple(_seen(book.runtime(each.runtime), each)),
            )
            for each in self.runtimes
            if each.version is not None and self.how is not None
        ]


def _seen(runtime: RuntimeBook, checked: CheckedVersion) -> list[SeenLine]:
    paths = {path.name: path for path in runtime.paths}
    return [
        SeenLine(line.name, runtime.digest(paths[line.name]), line.saw, line.threads, line.calls)
        for line in checked.lines
        if line.verdict in (Status.HOLDS, Status.FAILS)
    ]
