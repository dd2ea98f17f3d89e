"""Write describe.json anew: what the built drivers say of themselves, with all that depends on the machine left out.

From the project's folder: ``.venv/bin/python tests/data/make_describe.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

from clonometer.runner.drivers import find_drivers


def main() -> None:
    """Write the file."""
    descriptions = [dict(description) for description in find_drivers().descriptions]
    for description in descriptions:
        description["lacks"] = []
        description["driver"].pop("compiler", None)
        for axis in description["axes"].values():
            axis.pop("unavailable", None)
        for workload in description["workloads"]:
            workload |= {"available": True, "reason": None}
    text = json.dumps(descriptions, indent=1, ensure_ascii=False)
    (Path(__file__).parent / "describe.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
