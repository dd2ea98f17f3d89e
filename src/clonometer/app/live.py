"""The machine and its processes as they are now."""

from __future__ import annotations

from pathlib import Path

from clonometer.host.source import Source
from clonometer.host.target.reader import How, Reading, read_target
from clonometer.model.features import Features
from clonometer.prediction.profile import profile_of

ROOT = Path("/")


def live() -> Source:
    """The machine as it is now: a source reads each file once."""
    return Source(ROOT)


def read(pid: int, *, how: How | None = None) -> Reading:
    """Read a live process."""
    return read_target(live(), pid, how=how)


def features_of_process(pid: int) -> Features:
    """Read a process as ``clonometer predict --pid`` does."""
    return profile_of(read(pid), huge_pages_used=True).features
