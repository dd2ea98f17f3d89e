"""The terms in the user's data folder, beside the calibration of ``predict``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from clonometer.advice.terms import TERMS_SCHEMA, Terms
from clonometer.errors import InputError
from clonometer.model.store import save_record
from clonometer.records import from_json

NAME = "advise-terms.json"
_MOST_BYTES = 4 << 20


def read_terms(path: Path) -> Terms | None:
    """Read what was measured; None where there is no such file.

    Raises
    ------
    InputError
        If it is damaged, or another version of Clonometer measured in another way.
    """
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_MOST_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: it is not JSON") from error
    if isinstance(content, dict) and content.get("schema") != TERMS_SCHEMA:
        raise InputError(f"{path} is of another version, which measured in another way")
    try:
        return from_json(Terms, content)
    except InputError as error:
        raise InputError(f"{path} is damaged: {error.message}") from error


def save_terms(terms: Terms, path: Path) -> None:
    """Write terms, whole or not at all.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    save_record(terms, path)


def merged(before: Terms | None, after: Terms, machine: Mapping[str, str]) -> Terms:
    """Add new terms to those that were measured on the same machine; the new ones replace the old."""
    if before is None or dict(before.machine) != dict(machine):
        return after
    terms = {**before.terms, **after.terms}
    return Terms(after.made_at, after.machine, terms, {**before.lacks, **after.lacks}, after.busy or before.busy)
