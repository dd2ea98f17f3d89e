"""What a run file brings to comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clonometer.results.rows.run_estimates import RunEstimates


def open_side(path: Path) -> RunEstimates:
    """Read what a run file brings to comparisons.

    Raises
    ------
    RunFileError
        If it is not a sound run file.
    """
    from clonometer.results.compare.sides import read_side
    from clonometer.runfile import open_run

    with open_run(path) as run:
        return read_side(run, str(path))
