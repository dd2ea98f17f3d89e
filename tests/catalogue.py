"""What the drivers say of themselves, frozen in ``tests/data/describe.json``: the catalogue of tests that start none.

There is no other description of the drivers in the tests. `tests/integration/test_conformance.py` compares it with the
built drivers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from clonometer.plan.catalogue import read_catalogue

PATH = Path(__file__).parent / "data" / "describe.json"
DESCRIPTIONS: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))
CATALOGUE = read_catalogue(DESCRIPTIONS)


def defaults(workload: str) -> dict[str, int | str]:
    """Give the default condition of a workload: every axis that it has."""
    return {axis: CATALOGUE.axes[axis].default for axis in CATALOGUE.workloads[workload].axes}
