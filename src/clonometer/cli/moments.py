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
    "How much one row differs between two moments: a standard deviation such as 1%, or a file of 'clonometer noise "
    "--json'. Default: 2%, and 20% for cold launches."
)
#: More than any answer of `clonometer noise` has.
_MOST_BYTES = 16 << 20


def read_moments(text: str | None) -> Moments:
    """Read ``--noise``.

    Raises
    ------
    UsageError
        If it is neither a share nor the name of a file.
    InputError
        If the file is no answer of `clonometer noise --json`.
    """
    from clonometer.results.compare.moments import ASSUMED_MOMENTS, given_moments, measured_moments

    if text is None:
        return ASSUMED_MOMENTS
    path = Path(text)
    if not path.exists():
        try:
            return given_moments(parse_share(text))
        except UsageError:
            raise UsageError(f"--noise {text} is no share, and there is no such file", "--noise 1%") from None
    return measured_moments(_read(path), str(path))


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
