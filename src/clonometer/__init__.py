"""Clonometer tells you what a task costs on your Linux machine, why, and what to do about it.

::

    import clonometer

    run = clonometer.load("clonometer-run.parquet")
    run.samples()   # an Arrow table, a row a sample
    run.results()   # estimates with intervals, findings, warnings
    run.picture()   # an SVG

What each command does is a function too: docs/python.md.
"""

from __future__ import annotations

from clonometer._version import __version__

# As in typing, whose import takes longer than all else that `clonometer --version` needs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clonometer.app.ab import ab
    from clonometer.app.calibrating import calibrate
    from clonometer.app.check import check
    from clonometer.app.compare import compare, compare_within
    from clonometer.app.doctor import doctor
    from clonometer.app.loaded import LoadedRun, load
    from clonometer.app.noise import noise
    from clonometer.app.run import run
    from clonometer.app.validating import validate

__all__ = [
    "LoadedRun",
    "__version__",
    "ab",
    "calibrate",
    "check",
    "compare",
    "compare_within",
    "doctor",
    "load",
    "noise",
    "run",
    "validate",
]

#: Where the functions of each command live: found when they are asked for, so that what prints a version stays fast.
_LIVES_IN = {
    "LoadedRun": "clonometer.app.loaded",
    "ab": "clonometer.app.ab",
    "calibrate": "clonometer.app.calibrating",
    "check": "clonometer.app.check",
    "compare": "clonometer.app.compare",
    "compare_within": "clonometer.app.compare",
    "doctor": "clonometer.app.doctor",
    "load": "clonometer.app.loaded",
    "noise": "clonometer.app.noise",
    "run": "clonometer.app.run",
    "validate": "clonometer.app.validating",
}


def __getattr__(name: str) -> Any:
    """Find what is offered."""
    if name not in _LIVES_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LIVES_IN[name]), name)
