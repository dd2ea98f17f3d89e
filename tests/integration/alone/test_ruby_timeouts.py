"""Ruby loses timeouts of its own, and no more of them under a census; others' load would make it lose more."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.test_hooks_harm_nothing import timeouts_lost

pytestmark = pytest.mark.real


def test_no_timeout_of_ruby_is_lost_to_a_census(tmp_path: Path) -> None:
    by_itself, under_census = timeouts_lost("ruby", tmp_path / "timeouts")
    # Of 250 it loses about 48, as a call returns with an error of its own, which then is the one that is raised; with
    # hooks that executed Ruby it was half of them. The difference scatters by 9 (binomial): 50 is beyond 5 of these.
    assert under_census <= by_itself + 50
