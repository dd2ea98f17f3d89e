"""Known answers: delays put into a launch move each stage as their place predicts (doctor --self-test)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.harness import Line, say

MOST_UNTOLD = 0.5


def lines(answer: Mapping[str, Any]) -> Iterator[Line]:
    """The figures of what `clonometer doctor --self-test --json` has printed."""
    checks = [*answer["moves"], *answer["walls"]]
    wrong = sum(check["passed"] is False for check in checks)
    untold = sum(check["passed"] is None for check in checks)
    yield Line("known_answer.wrong", wrong, wrong, wrong, 0, "count", f"of {len(checks)} checks")
    # A self-test that can tell nothing would never be wrong.
    share = untold / len(checks) if checks else 1.0
    note = (
        f"{untold} of {len(checks)} checks could not be told; at most {answer['other_running_tasks']} other tasks ran"
    )
    yield Line("known_answer.untold", share, share, share, MOST_UNTOLD, "share", note)


def run() -> Iterator[Line]:
    clonometer = str(Path(sys.executable).with_name("clonometer"))
    ended = subprocess.run([clonometer, "doctor", "--self-test", "--json"], capture_output=True, text=True, check=False)
    yield from map(say, lines(json.loads(ended.stdout)))
