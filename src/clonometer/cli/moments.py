"""The option ``--noise``: how far two moments of a machine are apart, as a share or as measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.errors import InputError, UsageError
from clonometer.files import cannot_read
from clonometer.units import parse_share

if TYPE_CHECKING:
    from clonometer.results.compare.moments import MeasuredNoise, Moments

NOISE_HELP = (
    "How much one row differs between two runs: a standard deviation such as 1%, a file of 'clonometer noise --json', "
    "or a folder of three runs or more between which nothing changed."
)
#: More than any answer of `clonometer noise` has.
_MOST_BYTES = 16 << 20
#: Of a folder so many runs are read.
_MOST_RUNS = 30


def read_moments(text: str | None) -> Moments:
    """Read ``--noise``.

    Raises
    ------
    UsageError
        If it is neither a share nor the name of a file.
    InputError
        If the file is no answer of `clonometer noise --json`.
    """
    from clonometer.results.compare.moments import UNKNOWN_MOMENTS, given_moments, measured_moments

    if text is None:
        return UNKNOWN_MOMENTS
    path = Path(text)
    if not path.exists():
        try:
            return given_moments(parse_share(text))
        except UsageError:
            raise UsageError(f"--noise {text} is not a share, and there is no such file", "--noise 1%") from None
    return _of_folder(path) if path.is_dir() else measured_moments(_read(path), str(path))


def _of_folder(folder: Path) -> Moments:
    """What the runs in a folder say, the last ones by their names."""
    from clonometer.cli.compare import open_side
    from clonometer.results.compare.between import stored_moments

    moments = stored_moments([open_side(path) for path in sorted(folder.glob("*.parquet"))[-_MOST_RUNS:]])
    if moments is None:
        raise InputError(f"{folder} does not have three runs of one plan", "measure three: clonometer run --out FILE")
    return moments


def _read(path: Path) -> MeasuredNoise:
    from clonometer.records import from_json
    from clonometer.results.compare.moments import MeasuredNoise

    again = "write one with clonometer noise --json > FILE"
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(*cannot_read(path, error)) from error
    if len(content) > _MOST_BYTES:
        raise InputError(f"{path} is too large to be an answer of clonometer noise", again)
    try:
        return from_json(MeasuredNoise, json.loads(content))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not valid JSON", again) from None
    except InputError as error:
        raise InputError(f"{path} is no answer of clonometer noise: {error.message}", again) from error
