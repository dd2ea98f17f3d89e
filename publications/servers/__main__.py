"""`make servers-doc`: measures the servers that are installed here, and writes docs/servers.md anew.

A server takes about a minute and a half. What was measured is kept in publications/servers/measured.json; SERVERS names
those that are measured again, otherwise all of them are.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from publications.machine import machine_line
from publications.servers.case import PROJECT, read_cases
from publications.servers.measuring import measured
from publications.servers.pages import page
from publications.servers.pricing import prices, read_prices
from publications.servers.serving import NotServingError

KEPT = Path(__file__).with_name("measured.json")
#: The name of what is measured besides servers, and its place in the file.
PRICES = "prices"
PAGE = PROJECT / "docs" / "servers.md"


def say(text: str) -> None:
    """Say what is done."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(wanted: list[str]) -> int:
    """Measure and write; 1 if a server that is wanted does not exist or cannot be measured."""
    cases = read_cases()
    unknown = set(wanted) - {case.name for case in cases} - {PRICES}
    if unknown:
        names = ", ".join([*(case.name for case in cases), PRICES])
        sys.stderr.write(f"no such server: {', '.join(sorted(unknown))}; there are {names}\n")
        return 1
    # What was started is ended all the same.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if not wanted or PRICES in wanted:
        say("what parts of a launch cost here")
        keep({PRICES: prices()})
    skipped = failed = 0
    for case in cases:
        if wanted and case.name not in wanted:
            continue
        missing = case.missing(os.environ["PATH"])
        if missing:
            say(f"skipped {case.name}: apt-get install {' '.join(missing)}")
            skipped += 1
            continue
        try:
            result = {**measured(case, say), "machine": machine_line()}
        except (NotServingError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            say(f"failed {case.name}: {error}")
            failed += 1
            continue
        keep({"servers": {**read_kept()["servers"], case.name: result}})
    kept = read_kept()
    PAGE.write_text(page(cases, kept["servers"], read_prices(kept[PRICES]).basis), encoding="utf-8")
    say(f"docs/servers.md: {len(kept['servers'])} servers; {skipped} skipped, {failed} failed")
    return 1 if failed or (skipped and wanted) else 0


def read_kept() -> dict[str, Any]:
    """What was measured so far: of servers by name, and prices of parts."""
    kept: dict[str, Any] = {"servers": {}, PRICES: {}}
    return kept | (json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {})


def keep(changed: Mapping[str, Any]) -> None:
    """Keep what was measured just now beside all else."""
    KEPT.write_text(json.dumps({**read_kept(), **changed}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
