"""What the drivers say of themselves, frozen in ``tests/data/describe.json``: the catalogue of tests that start none.

By hand, tests describe only what no driver has: an invented family, a broken driver, a hostile file. The fake driver
has a part of the same file (`tests/fakes/fake_catalogue.py`). `tests/families/test_families.py` compares the
file with the built drivers.
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
