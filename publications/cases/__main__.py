"""`make cases`: measures the cases that this machine has the programs for, and writes docs/cases anew.

A case takes some 70 s. One that build/cases has already is not measured again; names in CASES limit what is measured.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from publications.cases.case import PROJECT, Case, read_cases
from publications.cases.measuring import measured
from publications.cases.pages import index, page
from publications.machine import machine_line

_KEPT = PROJECT / "build" / "cases"
_PAGES = PROJECT / "docs" / "cases"


def main(wanted: list[str]) -> int:
    """Measure and write; the status is 1 if a case that is wanted does not exist or cannot be measured."""
    cases = read_cases()
    unknown = set(wanted) - {case.name for case in cases}
    if unknown:
        sys.stderr.write(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(c.name for c in cases)}\n")
        return 1
    _KEPT.mkdir(parents=True, exist_ok=True)
    _PAGES.mkdir(exist_ok=True)
    skipped = []
    for case in cases:
        missing = case.missing()
        if missing:
            skipped.append(f"{case.title}: not measured here, since {', '.join(missing)} is not installed.")
            sys.stdout.write(f"skipped {case.name}: install {', '.join(missing)}\n")
        elif not wanted or case.name in wanted:
            _measure(case)
    _write(cases, skipped)
    return 0


def _measure(case: Case) -> None:
    kept = _KEPT / f"{case.name}.json"
    if not kept.exists():
        sys.stdout.write(f"measuring {case.name}\n")
        sys.stdout.flush()
        kept.write_text(json.dumps(measured(case), indent=1), encoding="utf-8")


def _write(cases: list[Case], skipped: list[str]) -> None:
    """Write the page of each case that was measured, and the list."""
    machine = machine_line()
    results: list[tuple[Case, dict[str, Any]]] = []
    for case in cases:
        kept = _KEPT / f"{case.name}.json"
        if kept.exists():
            results.append((case, json.loads(kept.read_text(encoding="utf-8"))))
            (_PAGES / f"{case.name}.md").write_text(page(*results[-1], machine), encoding="utf-8")
    (_PAGES / "index.md").write_text(index(results, machine, skipped), encoding="utf-8")
    sys.stdout.write(f"docs/cases: {len(results)} cases\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
