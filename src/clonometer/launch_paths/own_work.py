"""What a runtime does for a launch beside the kernel's call, whatever its heap: measured, and kept in ``own.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated

from clonometer.inputs import parse_json
from clonometer.records import Ge, OneOf, from_json, version

OWN_SCHEMA = 1


@dataclass(frozen=True)
class OwnWork:
    """Of one line of the book: what its caller waits for more than for the kernel."""

    own_ns: Annotated[float, Ge(0), "Of a process without a heap: the launch, less what is predicted for it."]
    until: Annotated[str, OneOf(("call", "exec")), "Whether the caller continues after the call or after the exec."]


@dataclass(frozen=True)
class OwnWorks:
    """What was measured, by the names of runtimes and of their lines."""

    schema = version(OWN_SCHEMA)

    machine: Annotated[str, "Where."]
    date: str
    versions: Annotated[Mapping[str, str], "Of the runtimes."]
    runtimes: Mapping[str, Mapping[str, OwnWork]]


@cache
def load_own_works() -> OwnWorks:
    """Read what comes with Clonometer (`python -m publications.runtimes` writes it)."""
    text = (resources.files("clonometer.launch_paths") / "own.json").read_text(encoding="utf-8")
    return from_json(OwnWorks, parse_json(text))
