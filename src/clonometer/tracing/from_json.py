"""Explanations from the JSON that ``clonometer explain --json`` has written (docs/explain.md)."""

from __future__ import annotations

from typing import Any

from clonometer.errors import InputError
from clonometer.fields import shown
from clonometer.inputs import parse_json
from clonometer.records import from_json
from clonometer.tracing.types import EXPLAIN_SCHEMA, Explanation, Versus
from clonometer.tracing.work.types import WORK_SCHEMA, AnyExplanation, WorkExplanation

_AGAIN = "write one with clonometer explain MECHANISM --out FILE"


def read_explanation(text: bytes | str) -> AnyExplanation:
    """Read what ``clonometer explain --json`` has written.

    Keys that this version does not know are passed over: within a schema they may be added.

    Writing it again gives the same document.

    Raises
    ------
    InputError
        If it is no JSON, no explanation, one of a newer schema, or breaks ``docs/schemas/explain.schema.json``.
    """
    document = _parsed(text)
    _check_schema(document)
    try:
        return explanation_of(document)
    except InputError as error:
        raise InputError(f"a damaged explanation: {error.message}", _AGAIN) from error


def explanation_of(document: dict[str, Any]) -> AnyExplanation:
    """Read an explanation from what `json.loads` gave of it.

    Raises
    ------
    InputError
        If something is missing or is not what it must be.
    """
    if document.get("sides") is not None:
        return from_json(WorkExplanation, document)
    if document.get("versus") is not None:
        return from_json(Versus, document)
    return from_json(Explanation, document)


def _parsed(text: bytes | str) -> Any:
    try:
        return parse_json(text)
    except InputError as error:
        raise InputError(f"this is not an explanation: {error.message}", _AGAIN) from None


def _check_schema(document: Any) -> None:
    if not isinstance(document, dict) or not {"schema", "workload", "tier", "budget"} <= set(document):
        raise InputError("this JSON is not an explanation", _AGAIN)
    schema = document["schema"]
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise InputError(f"this JSON is not an explanation: its schema is {shown(schema)}", _AGAIN)
    known = WORK_SCHEMA if document.get("sides") is not None else EXPLAIN_SCHEMA
    if schema > known:
        raise InputError(
            f"the explanation is of schema {shown(schema)}; this version reads schema {known}",
            "a newer clonometer has written it: update, or explain again",
        )
