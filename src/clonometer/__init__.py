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
    from clonometer.app.ab_commands import ab_commands
    from clonometer.app.advise import advise
    from clonometer.app.budget import budget, record_budget
    from clonometer.app.calibrating import calibrate
    from clonometer.app.capacity import capacity
    from clonometer.app.census import census
    from clonometer.app.check import check
    from clonometer.app.compare import compare, compare_within
    from clonometer.app.demo import demo
    from clonometer.app.doctor import doctor
    from clonometer.app.explain import explain
    from clonometer.app.fleet_answers import compare_fleet, show_fleet
    from clonometer.app.fleet_run import Machines, run_fleet
    from clonometer.app.folder import load_folder
    from clonometer.app.fork_page import fork_page
    from clonometer.app.history import history
    from clonometer.app.lab import Lab, lessons, write_lesson
    from clonometer.app.languages import build_language_drivers, language_drivers
    from clonometer.app.launches_during import launches_during
    from clonometer.app.loaded import LoadedRun, load
    from clonometer.app.noise import noise
    from clonometer.app.paths import check_paths, paths
    from clonometer.app.peers import peers
    from clonometer.app.predict import predict
    from clonometer.app.reproduce import reproduce
    from clonometer.app.run import run
    from clonometer.app.start_method import start_method
    from clonometer.app.validating import validate

__all__ = [
    "Lab",
    "LoadedRun",
    "Machines",
    "__version__",
    "ab",
    "ab_commands",
    "advise",
    "budget",
    "build_language_drivers",
    "calibrate",
    "capacity",
    "census",
    "check",
    "check_paths",
    "compare",
    "compare_fleet",
    "compare_within",
    "demo",
    "doctor",
    "explain",
    "fork_page",
    "history",
    "language_drivers",
    "launches_during",
    "lessons",
    "load",
    "load_folder",
    "noise",
    "paths",
    "peers",
    "predict",
    "record_budget",
    "reproduce",
    "run",
    "run_fleet",
    "show_fleet",
    "start_method",
    "validate",
    "write_lesson",
]

#: Where they live: found when they are asked for, so that what prints a version stays fast. `make docs` writes this,
#: what is imported above and ``__all__``, of the ``__all__`` of the modules of `clonometer.app`.
_LIVES_IN = {
    "Lab": "clonometer.app.lab",
    "LoadedRun": "clonometer.app.loaded",
    "Machines": "clonometer.app.fleet_run",
    "ab": "clonometer.app.ab",
    "ab_commands": "clonometer.app.ab_commands",
    "advise": "clonometer.app.advise",
    "budget": "clonometer.app.budget",
    "build_language_drivers": "clonometer.app.languages",
    "calibrate": "clonometer.app.calibrating",
    "capacity": "clonometer.app.capacity",
    "census": "clonometer.app.census",
    "check": "clonometer.app.check",
    "check_paths": "clonometer.app.paths",
    "compare": "clonometer.app.compare",
    "compare_fleet": "clonometer.app.fleet_answers",
    "compare_within": "clonometer.app.compare",
    "demo": "clonometer.app.demo",
    "doctor": "clonometer.app.doctor",
    "explain": "clonometer.app.explain",
    "fork_page": "clonometer.app.fork_page",
    "history": "clonometer.app.history",
    "language_drivers": "clonometer.app.languages",
    "launches_during": "clonometer.app.launches_during",
    "lessons": "clonometer.app.lab",
    "load": "clonometer.app.loaded",
    "load_folder": "clonometer.app.folder",
    "noise": "clonometer.app.noise",
    "paths": "clonometer.app.paths",
    "peers": "clonometer.app.peers",
    "predict": "clonometer.app.predict",
    "record_budget": "clonometer.app.budget",
    "reproduce": "clonometer.app.reproduce",
    "run": "clonometer.app.run",
    "run_fleet": "clonometer.app.fleet_run",
    "show_fleet": "clonometer.app.fleet_answers",
    "start_method": "clonometer.app.start_method",
    "validate": "clonometer.app.validating",
    "write_lesson": "clonometer.app.lab",
}


def __getattr__(name: str) -> Any:
    """Find what is offered."""
    if name not in _LIVES_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LIVES_IN[name]), name)
