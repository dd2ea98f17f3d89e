"""`make runtimes-doc`: measures what is wanted, keeps it in tools/runtimes/measured.json, and writes docs/runtimes.md.

Names limit what is measured: of languages, `spawns` and `servers`; `none` measures nothing and only writes the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tools.runtimes.languages import LANGUAGES
from tools.runtimes.measuring import measured
from tools.runtimes.pages import page
from tools.runtimes.published import servers, spawns

from clonometer.files import write_text

MEASURED = Path(__file__).with_name("measured.json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "runtimes.md"
_MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    **{language.name: partial(measured, language) for language in LANGUAGES},
    "spawns": spawns,
    "servers": servers,
}


def main(wanted: list[str]) -> int:
    """Measure and write; the status is 1 if a name is unknown."""
    unknown = set(wanted) - {*_MEASURES, "none"}
    if unknown:
        sys.stderr.write(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(_MEASURES)}\n")
        return 1
    kept = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    missing = {language.name for language in LANGUAGES if language.missing()}
    missing |= {"spawns"} & {"spawns" if "rust" in missing else ""}
    missing |= {"servers"} & {"servers" if {"go", "node"} & missing else ""}
    for name, measure in _MEASURES.items():
        if name in missing:
            sys.stdout.write(f"skipped {name}: its toolchain is not installed; what was kept stands\n")
        elif not wanted or name in wanted:
            sys.stdout.write(f"measuring {name}\n")
            sys.stdout.flush()
            kept[name] = measure()
            MEASURED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    write_text(PAGE, page(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
