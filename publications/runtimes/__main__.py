"""`make runtimes-doc`: measures what is wanted, keeps it in runtimes/measured.json, and writes docs/runtimes.md.

Names limit what is measured: those of languages, `spawns`, `servers`, `floors`, and `predict-LANGUAGE`, which needs a
calibration. `none` only writes the page. A part takes about three minutes, and replaces what was kept of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from publications.runtimes.foretold import judged
from publications.runtimes.languages import LANGUAGES
from publications.runtimes.measuring import measured
from publications.runtimes.pages import page
from publications.runtimes.published import floors, servers, spawns

from clonometer.files import write_text

MEASURED = Path(__file__).with_name("measured.json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "runtimes.md"
_MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    **{language.name: partial(measured, language) for language in LANGUAGES},
    "spawns": spawns,
    "servers": servers,
    "floors": floors,
    **{f"predict-{language.name}": partial(judged, language) for language in LANGUAGES},
}
#: What published shapes are programs of.
_NEED = {"spawns": {"rust"}, "servers": {"go"}, "floors": {"rust"}}


def main(wanted: list[str]) -> int:
    """Measure and write; the status is 1 if a name is unknown."""
    unknown = set(wanted) - {*_MEASURES, "none"}
    if unknown:
        sys.stderr.write(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(_MEASURES)}\n")
        return 1
    missing = {language.name for language in LANGUAGES if language.missing()}
    missing |= {f"predict-{name}" for name in missing}
    missing |= {name for name, needs in _NEED.items() if needs & missing}
    for name, measure in _MEASURES.items():
        if name in missing:
            sys.stdout.write(f"skipped {name}: its toolchain is not installed; what was kept stands\n")
        elif not wanted or name in wanted:
            sys.stdout.write(f"measuring {name}\n")
            sys.stdout.flush()
            keep(name, measure())
    write_text(PAGE, page(kept()))
    return 0


def kept() -> dict[str, Any]:
    """What was measured, by part."""
    return json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}


def keep(name: str, part: dict[str, Any]) -> None:
    """Replace what was kept of a part; others may have measured other parts meanwhile."""
    write_text(MEASURED, json.dumps(kept() | {name: part}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
