"""The terms in the user's data folder, beside the calibration of ``predict``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clonometer.advice.terms import TERMS_SCHEMA, Terms
from clonometer.errors import InputError, MissingFileError
from clonometer.inputs import InputKind, naming, read_json
from clonometer.model.store import save_record
from clonometer.records import from_json

NAME = "advise-terms.json"
_TERMS = InputKind("a file of terms for advise", 4 << 20, "remove it: they are measured again")


def read_terms(path: Path) -> Terms | None:
    """Read what was measured; None where there is no such file.

    Raises
    ------
    InputError
        If it is damaged, or another version of Clonometer measured in another way.
    """
    try:
        content = read_json(path, _TERMS)
    except MissingFileError:
        return None
    if isinstance(content, dict) and content.get("schema") != TERMS_SCHEMA:
        raise InputError(f"{path} is of another version, which measured in another way")
    with naming(path, _TERMS):
        return from_json(Terms, content)


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
