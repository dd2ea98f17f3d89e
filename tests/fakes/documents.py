"""Run documents made in memory: one of a run that measured nothing, with what a test needs in its place."""

from __future__ import annotations

from typing import Any

from clonometer.run_document import RunDocument, read_document

EMPTY: dict[str, Any] = {
    "schema": 1,
    "status": "complete",
    "status_reason": None,
    "started": "2026-01-01T12:00:00+00:00",
    "ended": "2026-01-01T12:01:00+00:00",
    "clonometer_version": "0.1.0",
    "seed": 1,
    "command": ["clonometer", "run"],
    "plan": {"name": "made", "title": "made", "budget_seconds": 60.0, "cells": []},
    "catalogue": {"axes": {}, "quantities": {}, "workloads": []},
    "clock": {},
    "host": {},
    "processes": [],
    "blocks": [],
    "cells": [],
    "columns": {},
}
PROCESS: dict[str, Any] = {
    "driver": "probe", "cells": [], "ended_ns": None, "status": "ok", "reason": None, "exit_status": 0,
}  # fmt: skip
BLOCK: dict[str, Any] = {
    "process": 0, "block": 0, "cell": "launch.fork", "status": "ok", "reason": None, "rows": 1, "outcomes": {},
}  # fmt: skip


def made_document(**changes: Any) -> RunDocument:
    """The document of a run that measured nothing, with these keys of its JSON otherwise."""
    return read_document({**EMPTY, **changes})


def planned(*cells: dict[str, Any]) -> dict[str, Any]:
    """A plan of these cells, of which each says at least what it is called."""
    usual: dict[str, Any] = {"condition": {}, "temperature": None}
    return {**EMPTY["plan"], "cells": [{"workload": cell["cell"], **usual, **cell} for cell in cells]}
