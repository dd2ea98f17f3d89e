"""Write describe.json anew: what the built drivers say of themselves, with all that depends on the machine left out.

`make golden` does so. Drivers that are not built here, as where there is no C++ compiler, stay as they were.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.catalogue import DESCRIPTIONS, PATH

from clonometer.runner.drivers import find_drivers

COMMAND = "make golden"


def described_here() -> list[dict[str, Any]]:
    """Give what each built driver says of itself, as on a machine that lacks nothing."""
    descriptions = [copy.deepcopy(dict(description)) for description in find_drivers().descriptions]
    for description in descriptions:
        description["lacks"] = []
        description["driver"].pop("compiler", None)
        for axis in description["axes"].values():
            axis.pop("unavailable", None)
        for workload in description["workloads"]:
            workload |= {"available": True, "reason": None}
    return descriptions


def frozen_anew() -> list[dict[str, Any]]:
    """Give what the file should have: what is built here, and what it has of others."""
    descriptions = described_here()
    built = {description["driver"]["name"] for description in descriptions}
    return [*descriptions, *(frozen for frozen in DESCRIPTIONS if frozen["driver"]["name"] not in built)]


def as_text(descriptions: list[dict[str, Any]]) -> str:
    """Write it as the file has it: a line for each thing that may change."""
    return json.dumps(descriptions, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(as_text(frozen_anew()), encoding="utf-8")
