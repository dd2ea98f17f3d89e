"""How much two runs of a machine differ though nothing changed: as a share, as measured, or by stored runs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.app.sides import open_side
from clonometer.errors import InputError, UsageError
from clonometer.inputs import InputKind, naming, read_json
from clonometer.units import parse_share

if TYPE_CHECKING:
    from clonometer.results.compare.variance import BetweenRunVariance, MeasuredNoise
    from clonometer.results.rows.run_estimates import RunEstimates

_NOISE = InputKind("the output of clonometer noise", 4 << 20, "write one with clonometer noise --json > FILE")
#: Of a folder so many runs are read.
_MOST_RUNS = 30
#: Of the runs beside those compared so many are read, of so many bytes together: a fraction of a second.
_MOST_BESIDE, _MOST_BESIDE_BYTES = 10, 8 << 20
#: And of so many files the latest are sought.
_MOST_LISTED = 1000


def read_variance(text: str | None) -> BetweenRunVariance | None:
    """Read ``--noise``: a share, a file, or a folder of runs; None where it is not given.

    Raises
    ------
    UsageError
        If it is neither a share nor the name of a file.
    InputError
        If the file is no answer of `clonometer noise --json`.
    """
    from clonometer.results.compare.variance import variance_from_noise, variance_from_share

    if text is None:
        return None
    path = Path(text)
    if not path.exists():
        try:
            return variance_from_share(parse_share(text))
        except UsageError:
            raise UsageError(f"--noise {text} is not a share, and there is no such file", "--noise 1%") from None
    return _of_folder(path) if path.is_dir() else variance_from_noise(_read(path), str(path))


def stored_variance(sides: Sequence[Sequence[RunEstimates]]) -> BetweenRunVariance:
    """What is stored beside the runs that are compared says, where each side is one run: several say it themselves."""
    from clonometer.results.compare.variance import UNKNOWN_VARIANCE

    runs = [run for side in sides for run in side]
    return _beside(runs) if len(runs) == len(sides) else UNKNOWN_VARIANCE


def _beside(sides: Sequence[RunEstimates]) -> BetweenRunVariance:
    """What runs in the folders of the compared ones say: the latest, few and small ones, so that it takes no time."""
    from clonometer.results.compare.stored import group_of, variance_beside
    from clonometer.results.compare.variance import UNKNOWN_VARIANCE
    from clonometer.runfile import open_run

    compared = {Path(side.name).resolve() for side in sides}
    stored: list[tuple[int, RunEstimates]] = []
    paths, skipped = _latest({path.parent for path in compared}, compared)
    left_out = ["too large or too old to be read automatically (--noise FOLDER reads them)"] * skipped
    for path in paths:
        try:
            with open_run(path) as run:
                group = group_of(run.document, sides)
            if isinstance(group, int):
                stored.append((group, open_side(_shown(path))))
        # A file that nobody named: whatever is wrong with it, it says nothing.
        except Exception:
            group = "not read"
        left_out += [group] if isinstance(group, str) else []
    if not stored and not left_out:
        return UNKNOWN_VARIANCE
    return variance_beside(sides, stored, left_out)


def _latest(folders: set[Path], without: set[Path]) -> tuple[list[Path], int]:
    """The latest files that are read, and how many more there are."""
    files: list[tuple[float, int, Path]] = []
    for folder in folders:
        for path in islice(folder.glob("*.parquet"), _MOST_LISTED):
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.is_file() and path.resolve() not in without:
                    files.append((status.st_mtime, status.st_size, path))
    chosen: list[Path] = []
    size = 0
    for _, its, path in sorted(files, reverse=True):
        if len(chosen) < _MOST_BESIDE and size + its <= _MOST_BESIDE_BYTES:
            chosen.append(path)
            size += its
    return chosen, len(files) - len(chosen)


def _shown(path: Path) -> Path:
    """As the user would name it."""
    folder = Path.cwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def _of_folder(folder: Path) -> BetweenRunVariance:
    """What the runs in a folder say, the last ones by their names."""
    from clonometer.results.compare import between
    from clonometer.results.compare.variance import LEAST_RUNS

    runs = [open_side(path) for path in sorted(folder.glob("*.parquet"))[-_MOST_RUNS:]]
    variance = between.stored_variance([runs]) if len(runs) >= LEAST_RUNS else None
    if variance is None:
        raise InputError(f"{folder} does not have three runs of one plan", "measure three: clonometer run --out FILE")
    return variance


def _read(path: Path) -> MeasuredNoise:
    from clonometer.records import from_json
    from clonometer.results.compare.variance import MeasuredNoise

    content = read_json(path, _NOISE)
    with naming(path, _NOISE):
        return from_json(MeasuredNoise, content)
