from __future__ import annotations

import difflib

import pytest
from tests.catalogue import DESCRIPTIONS
from tests.data import make_describe
from tests.data.make_describe import COMMAND, as_text, described_here, frozen_anew


def test_the_frozen_description_is_what_the_built_drivers_say() -> None:
    """Most tests judge by it: what it leaves out, they do not know of."""
    descriptions = frozen_anew()
    assert "probe" in {description["driver"]["name"] for description in described_here()}
    changes = difflib.unified_diff(
        as_text(DESCRIPTIONS).splitlines(),
        as_text(descriptions).splitlines(),
        "describe.json",
        "the built drivers",
        n=1,
        lineterm="",
    )
    shown = "\n".join(changes)
    if shown:
        pytest.fail(
            f"The drivers describe themselves otherwise than tests/data has it: {COMMAND}\n{shown}", pytrace=False
        )


def test_a_driver_that_is_not_built_here_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [description for description in DESCRIPTIONS if description["driver"]["name"] != "probe"]
    assert others
    monkeypatch.setattr(make_describe, "described_here", lambda: DESCRIPTIONS[:1])
    assert frozen_anew() == DESCRIPTIONS
