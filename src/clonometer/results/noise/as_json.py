"""A machine's noise as the JSON object of ``clonometer noise --json`` (docs/schemas/noise.schema.json)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clonometer.results.noise.types import NOISE_SCHEMA, AgainstItself, Noise


def noise_to_json(noise: Noise) -> dict[str, Any]:
    """Turn a machine's noise into plain JSON values.

    Returns
    -------
    dict
        Valid against docs/schemas/noise.schema.json; times in ns, what does not exist None.
    """
    return {
        "schema": NOISE_SCHEMA,
        "plan": noise.plan,
        "rounds": noise.rounds,
        "max_regression": noise.max_regression,
        "error_rate": noise.error_rate,
        "n_tests": noise.n_tests,
        "interleaved": _checks(noise.interleaved),
        "in_a_row": None if noise.in_a_row is None else _checks(noise.in_a_row),
        "rows": [
            {
                "cell": row.estimate.cell,
                "stage": row.estimate.stage,
                "quantity": row.estimate.quantity,
                "placement": row.estimate.placement,
                "n_processes": row.estimate.n_processes,
                "median_ns": row.estimate.median_ns,
                "spread": row.spread,
                "between_rounds": row.between,
                "detectable_change": row.detectable,
            }
            for row in noise.rows
        ],
    }


def _checks(one: AgainstItself) -> dict[str, Any]:
    return {**asdict(one), "rows": list(one.rows)}
