"""A check as the JSON object of ``clonometer check --json`` (docs/schemas/check.schema.json)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clonometer.results.as_json import plain_json
from clonometer.results.check.types import CHECK_SCHEMA, ROW_VERDICTS, Checked, CheckedRow
from clonometer.results.compare.as_json import row_to_json


def checked_to_json(checked: Checked) -> dict[str, Any]:
    """Turn a check into plain JSON values.

    Returns
    -------
    dict
        Valid against docs/schemas/check.schema.json; times in ns, what does not exist None.
    """
    return {
        "schema": CHECK_SCHEMA,
        "baseline": checked.baseline,
        "run": checked.run,
        "verdict": checked.verdict,
        "reasons": list(checked.reasons),
        "max_regression": checked.max_regression,
        "error_rate": checked.error_rate,
        "correction": "Holm",
        "n_tests": checked.n_tests,
        "machine_shift": checked.machine_shift,
        "machine_kinds": checked.machine_kinds,
        "rerun": checked.rerun,
        "counts": {verdict: checked.count(verdict) for verdict in ROW_VERDICTS},
        "rows": [_row(row) for row in checked.rows],
        "left_out": [asdict(one) for one in checked.left_out],
        "differences": [
            {"key": one.key, "base": plain_json(one.base), "other": plain_json(one.other)}
            for one in checked.differences
        ],
    }


def _row(row: CheckedRow) -> dict[str, Any]:
    fields = row_to_json(row.compared)
    del fields["within"]
    again = None
    if row.again is not None:
        again = {
            name: value
            for name, value in row_to_json(row.again).items()
            if name in ("other", "ratio", "ratio_low", "ratio_high", "p_value", "p_adjusted")
        }
    fields |= {"level": row.level, "ratio_measured": row.ratio_measured}
    return {**fields, "verdict": row.verdict, "detectable_change": row.detectable, "again": again}
