"""Run files in Python."""

from __future__ import annotations

import os
from typing import Any

from clonometer.results.summary import summarize
from clonometer.results.types import Results
from clonometer.run_document import RunDocument
from clonometer.runfile import Run, open_run
from clonometer.views.pictures import leading_kind, picture

__all__ = ["LoadedRun", "load"]


class LoadedRun:
    """A run that was read from its file; made by `load`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._results: Results | None = None

    def __repr__(self) -> str:
        samples = f"{self._run.n_samples:,} samples"
        return f"<clonometer run {str(self._run.path)!r}: {samples}, {self.document.status}>"

    @property
    def document(self) -> RunDocument:
        """Everything of the run except its samples: status, plan, host facts, processes, blocks (docs/runfile.md)."""
        return self._run.document

    def samples(self) -> Any:
        """All samples.

        Returns
        -------
        pyarrow.Table
            One row per sample, sorted by ``cell``, ``process``, ``block``, ``sample``; durations in whole ns
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
        if self._results is None:
            self._results = summarize(self._run)
        return self._results

    def _repr_markdown_(self) -> str:
        from clonometer.views.documents.run_in_short import short_run_document
        from clonometer.views.notebook import notebook_markdown

        return notebook_markdown(short_run_document(self.results()))

    def picture(self, kind: str | None = None, image_format: str = "svg") -> Any:
        """Draw a picture of the results, as ``clonometer plot`` does.

        Parameters
        ----------
        kind
            One of ``clonometer plot --help``; by default the kind that shows most of the run.
        image_format
            ``svg`` or ``png``.

        Returns
        -------
        str or bytes
            The text of an SVG, or the bytes of a PNG.

        Raises
        ------
        clonometer.errors.UsageError
            If there is no such kind or format.
        clonometer.errors.InputError
            If the run has nothing of that kind.
        """
        results = self.results()
        return picture(results, kind or leading_kind(results) or "overview", image_format)


def load(path: str | os.PathLike[str]) -> LoadedRun:
    """Open a run file of this schema or an older one.

    Parameters
    ----------
    path
        A Parquet file that ``clonometer run`` or ``clonometer recover`` wrote.

    Raises
    ------
    clonometer.errors.RunFileError
        If it is not a run file, or is truncated, damaged or of a newer schema.
    """
    return LoadedRun(open_run(path))
