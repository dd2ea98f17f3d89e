"""A server and the designs that are compared; one TOML file each in publications/servers/data."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

PROJECT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("data")
_PROSE = ("title", "what", "missing_term")

#: As `clonometer advise` names them.
Design = Literal["fork", "spawn", "thread", "prefork", "thread_pool", "event", "event_pool", "inline"]


@dataclass(frozen=True)
class Side:
    """One way to run the server.

    ``commands`` are processes that stay in the foreground, the last one listens on ``@port@``. ``files`` are written
    into its folder. ``load`` replaces the case's options of the load generator. ``design`` is what Clonometer calls it,
    ``launches`` says when a design that launches does. ``workers`` is how many tasks serve at once, ``connections`` are
    its own where they differ from the case's. ``meanwhile`` is run again and again under load.
    """

    name: str
    design: Design
    commands: Sequence[Sequence[str]]
    files: Mapping[str, str] = field(default_factory=dict)
    load: Sequence[str] = ()
    workers: int = 0
    connections: Literal["", "per_request", "kept"] = ""
    meanwhile: Sequence[str] = ()
    launches: Literal["per request", "now and then"] = "per request"

    @property
    def launches_processes(self) -> bool:
        """Whether it creates processes while it serves."""
        return self.design in ("fork", "spawn")

    @property
    def makes_processes(self) -> bool:
        """Whether each request has a process of its own."""
        return self.launches_processes and self.launches == "per request"


@dataclass(frozen=True)
class ServerCase:
    """A server, its load, and its sides; the first one is what the others are compared with.

    ``needs`` are programs and files with the packages that have them. ``prepare`` are commands that are run once in a
    side's folder, ``ready`` ones that are run when it listens. ``kept`` is a load of many requests on each connection,
    which tells what a request does. ``language`` is that of what handles requests, and ``watched_s`` how long a census
    lasts. ``folders`` are added to the path: Debian keeps some servers elsewhere. ``request`` says what a request is.
    ``missing_term`` says what the model lacks, where it lacks something.
    """

    name: str
    title: str
    what: str
    request: str
    version: Sequence[str]
    needs: Mapping[str, str]
    connections: Literal["per_request", "kept"]
    generator: Literal["wrk", "pgbench", "redis-benchmark"]
    sides: Sequence[Side]
    load: Sequence[str] = ()
    folders: Sequence[str] = ()
    prepare: Sequence[Sequence[str]] = ()
    ready: Sequence[Sequence[str]] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    kept: Sequence[str] = ()
    language: str = "c"
    watched_s: float = 1.5
    stop: Literal["TERM", "INT"] = "TERM"
    missing_term: str = ""

    def missing(self, path: str) -> list[str]:
        """The packages that this machine lacks."""
        where = ":".join([*self.folders, path])

        def is_there(file: str) -> bool:
            return Path(file).exists() if file.startswith("/") else shutil.which(file, path=where) is not None

        return sorted({package for program, package in self.needs.items() if not is_there(program)})


def read_cases(folder: Path = DATA) -> list[ServerCase]:
    """All cases, by name."""
    return [_read(path) for path in sorted(folder.glob("*.toml"))]


def _read(path: Path) -> ServerCase:
    words: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    # The same server as in another file, with other files of its own.
    if like := words.pop("like", None):
        other = tomllib.loads(path.with_stem(like).read_text(encoding="utf-8"))
        words = {**other, **words, "files": {**other["files"], **words["files"]}}
    words |= {key: " ".join(words[key].split()) for key in _PROSE if key in words}
    sides = [Side(**side) for side in words.pop("sides")]
    return ServerCase(name=path.stem, sides=sides, **words)
