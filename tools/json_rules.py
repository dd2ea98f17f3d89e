"""What the schema of ``show --json`` says beyond the types of its fields, for `tools.json_schema`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clonometer.results.types import Estimate, Finding, Outliers, Results
from clonometer.verdicts import OF_DIFFERENCES, Word

# Facts that are recorded.
_CAUSES = {
    "type": "object",
    "propertyNames": {"enum": ["migration", "involuntary_switch", "frequency_change"]},
    "additionalProperties": {"type": "integer", "minimum": 0},
}
_ABOVE_ZERO_OR_NULL = {"type": ["number", "null"], "exclusiveMinimum": 0, "description": "Null below 6 processes."}
_NUMBERS = {
    "type": "object",
    "properties": {
        "ratio": _ABOVE_ZERO_OR_NULL,
        "ratio_low": _ABOVE_ZERO_OR_NULL,
        "ratio_high": _ABOVE_ZERO_OR_NULL,
        "confidence": {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "maximum": 1,
            "description": "What the interval is made to cover: 0.95; from fewer than 6 processes, which have no 95% "
            "interval, what the range of their values covers. Null with one process.",
        },
        "method": {"type": "string", "description": "How the interval was made."},
        "correction": {"type": "string", "description": "What p_value and verdict are corrected for."},
        "n_processes": {"type": "integer", "minimum": 0, "description": "Of the smaller side."},
        "p_value": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "verdict": {"enum": [word.value for word in OF_DIFFERENCES]},
        "sureness": {"enum": [word.value for word in Word], "description": "How sure the difference is."},
        "at_least": {"type": ["number", "null"], "description": "Of a sure one: how far apart at least."},
        "told_from": {"type": ["number", "null"], "description": "Of another: from how far apart on it would be sure."},
        "cells": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["cells"],
    "dependentRequired": {"ratio": ["ratio_low", "ratio_high"]},
}

_NOT_NEGATIVE = {"type": ["number", "null"], "minimum": 0}


def _where(condition: Mapping[str, Any], then: Mapping[str, Any], otherwise: Mapping[str, Any] | None = None) -> Any:
    rule = {"if": {"properties": condition}, "then": {"properties": then}}
    return rule if otherwise is None else {**rule, "else": {"properties": otherwise}}


_ESTIMATE_RULES = {
    "allOf": [
        _where(
            {"signed": {"const": False}},
            {"median_ns": _NOT_NEGATIVE, "median_low_ns": _NOT_NEGATIVE, "min_ns": _NOT_NEGATIVE},
        ),
        _where(
            {"p99_ns": {"type": "null"}},
            {"p99_reason": {"type": "string"}},
            {"p99_reason": {"type": "null"}, "n_samples": {"minimum": 300}},
        ),
        _where({"rankable": {"const": False}}, {"not_rankable_reason": {"type": "string"}}),
    ]
}

#: What holds for a whole record, whatever its fields are.
OF_RECORDS: Mapping[type, Mapping[str, Any]] = {
    Estimate: _ESTIMATE_RULES,
    Results: {"additionalProperties": True},
}
#: The schemas of mappings, of which a type cannot say what they have: by their record and key.
OF_KEYS: Mapping[tuple[type, str], Mapping[str, Any]] = {
    (Outliers, "causes"): _CAUSES,
    (Finding, "numbers"): _NUMBERS,
}
