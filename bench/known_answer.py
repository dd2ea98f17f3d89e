"""Known answers: delays put into a launch move each stage as their place predicts (doctor --self-test)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Line, say


def run() -> Iterator[Line]:
    clonometer = str(Path(sys.executable).with_name("clonometer"))
    ended = subprocess.run([clonometer, "doctor", "--self-test", "--json"], capture_output=True, text=True, check=False)
    answer = json.loads(ended.stdout)
    checks = [*answer["self_test"]["moves"], *answer["self_test"]["walls"]]
    wrong = sum(check["verdict"] == "wrong" for check in checks)
    open_ = sum(check["verdict"] == "cannot_tell" for check in checks)
    note = f"{len(checks)} checks, {open_} could not be told"
    yield say(Line("known_answer.wrong", wrong, wrong, wrong, 0, "count", note))
