"""Values of axes whose mistakes have an answer of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonometer.errors import PlanError
from clonometer.plan.cell import CatalogueAxis
from clonometer.plan.values import read_value

PROGRAM = CatalogueAxis("program", "text", "target_static")


def test_a_command_line_for_a_program_is_refused_with_the_spelling_that_works() -> None:
    with pytest.raises(PlanError, match="there is no such program") as caught:
        read_value(PROGRAM, "/usr/bin/python3 -S")
    assert caught.value.hint == (
        "arguments go after colons: program=/usr/bin/python3:-S (a space of the path itself: \\ )"
    )


def test_what_may_be_meant_is_taken(tmp_path: Path) -> None:
    spaced = tmp_path / "my program"
    spaced.touch()
    for value in ("target_static", "/bin/sh:-c:sleep 0.1", "/bin/nul \0", str(spaced), "my/own\\ program", " ", "\r"):
        assert read_value(PROGRAM, value) == value
