from __future__ import annotations

import difflib

import pytest
from tests.catalogue import DESCRIPTIONS
from tests.data.make_describe import COMMAND, as_text, described_here


def test_the_frozen_description_is_what_the_built_drivers_say() -> None:
    """Most tests judge by it: what it leaves out, they do not know of."""
    descriptions = described_here()
    built = {description["driver"]["name"] for description in descriptions}
    assert "probe" in built
    # Without a C++ compiler there is one driver less.
    frozen = [description for description in DESCRIPTIONS if description["driver"]["name"] in built]
    changes = difflib.unified_diff(
        as_text(frozen).splitlines(),
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
