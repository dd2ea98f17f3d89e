"""Comparisons as the JSON object of ``clonometer compare --json`` (docs/schemas/compare.schema.json)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clonometer.results.as_json import plain_json
from clonometer.results.compare.types import COMPARE_SCHEMA, Compared, ComparedPair, ComparedRow
from clonometer.results.types import Estimate

_SIDE = (
    "cell",
    "median_ns",
    "median_low_ns",
    "median_high_ns",
    "value",
    "value_low",
    "value_high",
    "n_samples",
    "n_processes",
    "effective_mhz",
)


def compared_to_json(compared: Compared) -> dict[str, Any]:
    """Turn comparisons into plain JSON values.

    Returns
    -------
    dict
        Valid against docs/schemas/compare.schema.json; times in ns, what does not exist None.
    """
    return {
        "schema": COMPARE_SCHEMA,
        "minimum_effect": compared.minimum_effect,
        "error_rate": compared.error_rate,
        "correction": "Holm",
        "n_tests": compared.n_tests,
        "counts": dict(compared.counts),
        "comparisons": [_pair(pair) for pair in compared.pairs],
    }


def _pair(pair: ComparedPair) -> dict[str, Any]:
    return {
        "base": pair.base,
        "other": pair.other,
        "rows": [{**row_to_json(row), "rest_ratio": row.rest, "like_rest": row.like_rest} for row in pair.rows],
        "shifts": [asdict(one) for one in pair.shifts],
        "left_out": [asdict(one) for one in pair.left_out],
        "differences": [
            {"key": one.key, "base": plain_json(one.base), "other": plain_json(one.other)} for one in pair.differences
        ],
    }


def row_to_json(row: ComparedRow) -> dict[str, Any]:
    """Turn one row into plain JSON values."""
    return {
        "workload": row.other.workload,
        "temperature": row.other.temperature,
        "stage": row.other.stage,
        "placement": row.other.placement,
        "quantity": row.other.quantity,
        "unit": row.other.unit,
        "base": _side(row.base),
        "other": _side(row.other),
        "ratio": row.ratio,
        "ratio_low": row.low,
        "ratio_high": row.high,
        "p_value": row.p_value,
        "p_adjusted": row.p_adjusted,
        "verdict": row.verdict,
        "within": row.within,
        "reason": row.reason,
    }


def _side(estimate: Estimate) -> dict[str, Any]:
    return {name: getattr(estimate, name) for name in _SIDE}
