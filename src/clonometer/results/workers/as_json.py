"""Workers as the JSON object of ``clonometer show --workers --json`` (docs/schemas/workers.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.results.workers.types import WORKERS_SCHEMA, WorkersOfCell


def workers_to_json(run_name: str, described: Sequence[WorkersOfCell]) -> dict[str, Any]:
    """Turn workers into plain JSON values.

    Parameters
    ----------
    run_name
        The run file, as it was named.
    found
        What `clonometer.results.workers.each_worker.each_worker` gave.

    Returns
    -------
    dict
        Valid against docs/schemas/workers.schema.json; each value in its quantity's unit, what does not exist None.
    """
    return {
        "schema": WORKERS_SCHEMA,
        "run": run_name,
        "cells": [
            {
                "cell": cell.cell,
                "executions": cell.executions,
                "units": dict(cell.units),
                "workers": [{"worker": row.worker, "values": dict(row.values)} for row in cell.rows],
            }
            for cell in described
        ],
    }
