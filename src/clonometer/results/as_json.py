"""Results as the JSON object of ``clonometer show --json`` (docs/schemas/show.schema.json)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from clonometer.results.ended import CellStatus
from clonometer.results.types import RESULTS_SCHEMA, Estimate, Finding, Results, RunWarning


def results_to_json(results: Results) -> dict[str, Any]:
    """Turn results into plain JSON values.

    Parameters
    ----------
    results
        What `summarize` gave.

    Returns
    -------
    dict
        Valid against docs/schemas/show.schema.json. Times are in ns. Numbers that do not exist are None; a
        NaN or an infinity in the host facts of a foreign run becomes None as well, because JSON has neither.
    """
    return {
        "schema": RESULTS_SCHEMA,
        "status": results.status,
        "status_reason": results.status_reason,
        "run": results.run_name,
        "clonometer_version": results.clonometer_version,
        "started": results.started,
        "duration_s": plain_json(results.duration_s),
        "plan": results.plan_name,
        "command": list(results.command),
        "seed": results.seed,
        "n_processes": results.n_processes,
        "n_samples": results.n_samples,
        "host": plain_json(results.host),
        "clock": plain_json(results.clock),
        "cells": [_estimate(one) for one in results.cells],
        "cell_statuses": [_status(one) for one in results.cell_statuses],
        "fits": [plain_json(asdict(one)) for one in results.fits],
        "ablations": [plain_json(asdict(one)) for one in results.ablations],
        "findings": [_finding(one) for one in results.findings],
        "warnings": [_warning(one) for one in results.warnings],
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    fields = {name: getattr(estimate, name) for name in Estimate.__dataclass_fields__ if name != "warnings"}
    return {**plain_json(fields), "warnings": [_warning(one) for one in estimate.warnings]}


def _status(status: CellStatus) -> dict[str, Any]:
    return asdict(status)


def _finding(finding: Finding) -> dict[str, Any]:
    return {"id": finding.id, "sentence": finding.sentence, "numbers": plain_json(finding.numbers)}


def _warning(warning: RunWarning) -> dict[str, Any]:
    return asdict(warning)


def plain_json(value: Any) -> Any:
    """Copy ``value`` as what the json module writes without NaN and infinities."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(one) for key, one in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, Iterable):
        return [plain_json(one) for one in value]
    number = float(value)
    return number if math.isfinite(number) else None
