"""What changed since the last run of a plan: summaries of runs in the user's data folder, one a plan.

They lie in ``$XDG_DATA_HOME/clonometer`` (by default ``~/.local/share/clonometer``), in files that the user alone may
read. Nothing of it may make a run fail.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from pathlib import Path
from typing import Any

from clonometer.errors import MissingFileError
from clonometer.files import writing
from clonometer.inputs import open_input, parse_json
from clonometer.user_cache import user_folder

#: Switches it off, like the option.
VARIABLE = "CLONOMETER_NO_SINCE"
#: So many plans are remembered; those whose last run is longest ago are forgotten.
MOST_PLANS = 32
#: A summary that is larger, packed or unpacked, is not kept.
MOST_BYTES, MOST_UNPACKED_BYTES = 1 << 20, 32 << 20


def since_last_time(path: Path) -> str | None:
    """Say what changed since the last complete run of the plan, and remember this one in its place.

    None where there is none to compare with, and where anything goes wrong.
    """
    try:
        return _since_last_time(path)
    # A summary is of no account beside the run: whatever is wrong with it, the run is measured and written.
    except Exception:
        return None


def _since_last_time(path: Path) -> str | None:
    from clonometer.results.compare.sides import is_same_run, read_side
    from clonometer.results.compare.since import since
    from clonometer.results.compare.snapshot import snapshot_name, to_snapshot
    from clonometer.runfile import open_run

    data = user_folder("XDG_DATA_HOME", ".local/share")
    if data is None:
        return None
    with open_run(path) as run:
        if run.document.status != "complete":
            return None
        now = read_side(run, str(path))
    file = data / f"last-{snapshot_name(now.document)}.json.gz"
    text = None
    # What an earlier version has kept, or half a file, is replaced.
    with contextlib.suppress(Exception):
        before = _read(file)
        if before is not None and not is_same_run(before, now):
            text = since(before, now).sentence
    _write(file, to_snapshot(now))
    return text


def _read(file: Path) -> Any:
    from clonometer.results.compare.snapshot import from_snapshot

    try:
        with open_input(file) as packed, gzip.open(packed) as unpacked:
            content = unpacked.read(MOST_UNPACKED_BYTES + 1)
    except MissingFileError:
        return None
    return from_snapshot(parse_json(content), "the run before") if len(content) <= MOST_UNPACKED_BYTES else None


def _write(file: Path, kept: dict[str, Any]) -> None:
    content = gzip.compress(json.dumps(kept, separators=(",", ":")).encode())
    if len(content) > MOST_BYTES:
        return
    with writing(file) as new:
        os.fchmod(new.file.fileno(), 0o600)
        new.file.write(content)
    remembered = sorted(file.parent.glob("last-*.json.gz"), key=lambda each: each.stat().st_mtime)
    for oldest in remembered[:-MOST_PLANS]:
        oldest.unlink(missing_ok=True)
