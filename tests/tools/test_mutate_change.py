"""What ``make mutate-change`` tells cosmic-ray, and reads in what it answers."""

from __future__ import annotations

import json
import tomllib

import pytest
from tests import changed

from tools import mutate_change


def item(line: int, outcome: str | None, worker: str = "normal") -> str:
    """A line of ``cosmic-ray dump``."""
    mutation = {
        "module_path": "src/clonometer/units.py",
        "operator_name": "core/NumberReplacer",
        "start_pos": [line, 4],
    }
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    result = None if outcome is None else {"worker_outcome": worker, "test_outcome": outcome, "diff": diff}
    return json.dumps([{"mutations": [mutation]}, result])


def test_survivors_are_named_with_what_was_changed() -> None:
    dump = [item(3, "killed"), item(7, "survived"), item(8, None), item(9, "survived", worker="skipped")]
    counted, survivors = mutate_change.outcomes("\n".join(dump))
    assert dict(counted) == {"killed": 1, "survived": 1, "not tried": 1}
    assert survivors == ["SURVIVED: src/clonometer/units.py:7: NumberReplacer\n    -a = 1\n    +a = 2"]


def test_only_what_has_changed_is_broken_and_only_its_tests_are_asked() -> None:
    tests = sorted(changed.of(["src/clonometer/units.py"]))
    assert tests == ["tests/test_units.py"]
    asked = tomllib.loads(mutate_change.config(["src/clonometer/units.py"], tests, "main"))["cosmic-ray"]
    assert asked["module-path"] == ["src/clonometer/units.py"]
    assert asked["test-command"].endswith("tests/test_units.py")
    assert asked["filters"]["git-filter"]["branch"] == "main"


def test_where_nothing_differs_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutate_change, "changed_sources", lambda _: [])
    assert mutate_change.main(["bin", "main", "9"]) == 0
    assert "nothing" in capsys.readouterr().out
