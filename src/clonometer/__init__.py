"""Clonometer tells you what a task costs on your Linux machine, why, and what to do about it.

::

    import clonometer

    run = clonometer.load("clonometer-run.parquet")
    run.samples()   # an Arrow table, a row a sample
    run.results()   # estimates with intervals, findings, warnings
"""

from __future__ import annotations

from clonometer._version import __version__

# As in typing, whose import takes longer than all else that `clonometer --version` needs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from clonometer.results.types import Results
    from clonometer.run_document import RunDocument
    from clonometer.runfile import Run

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
    "ab": "clonometer.app.ab",
    "calibrate": "clonometer.app.calibrating",
    "check": "clonometer.app.check",
    "compare": "clonometer.app.compare",
    "compare_within": "clonometer.app.compare",
    "doctor": "clonometer.app.doctor",
    "noise": "clonometer.app.noise",
    "run": "clonometer.app.run",
    "validate": "clonometer.app.validating",
}


def __getattr__(name: str) -> Any:
    """Find a function of a command."""
    if name not in _LIVES_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LIVES_IN[name]), name)


class LoadedRun:
    """A run that was read from its file; made by `load`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __repr__(self) -> str:
        samples = f"{self._run.n_samples:,} samples"
        return f"<clonometer run {str(self._run.path)!r}: {samples}, {self.document.status}>"

    @property
    def document(self) -> RunDocument:
        """All of the run but its samples: status, plan, host facts, processes, blocks (docs/runfile.md)."""
        return self._run.document

    def samples(self) -> Any:
        """All samples.

        Returns
        -------
        pyarrow.Table
            A row a sample, sorted by ``cell``, ``process``, ``block``, ``sample``; durations in whole ns
            (int64), null where a cell has none (docs/runfile.md).

        Raises
        ------
        clonometer.errors.RunFileError
            If the file is damaged.
        """
        return self._run.samples()

    def results(self) -> Results:
        """Estimate: medians with 95% intervals for each cell, stage and observed placement, and findings.

        Returns
        -------
        clonometer.results.types.Results
            Times in ns (docs/methods.md).

        Raises
        ------
        clonometer.errors.RunFileError
            If the file is damaged.
        """
        from clonometer.results.summary import summarize

        return summarize(self._run)


def load(path: str | os.PathLike[str]) -> LoadedRun:
    """Open a run file of this schema or an older one.

    Parameters
    ----------
    path
        A Parquet file that ``clonometer run`` or ``clonometer recover`` wrote.

    Raises
    ------
    clonometer.errors.RunFileError
        If it is no run file, truncated, damaged or of a newer schema.
    """
    from clonometer.runfile import open_run

    return LoadedRun(open_run(path))
