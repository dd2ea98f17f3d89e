from __future__ import annotations

from typing import Any

import pytest

from clonometer.results.rows.evidence import facts_of


@pytest.mark.parametrize(("step_from", "read"), [("launch.fork", "launch.fork"), (None, None), ([], None), ({}, None)])
def test_what_is_no_name_of_a_workload_is_no_step_from(step_from: Any, read: str | None) -> None:
    facts = facts_of({"catalogue": {"workloads": [{"id": "launch.clone3", "step_from": step_from}]}})
    assert {entry.get("step_from") for entry in facts.values()} == {read}
