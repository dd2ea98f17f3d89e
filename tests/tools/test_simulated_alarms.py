"""``make bench BENCH=simulated_alarms`` in small, and that it can fail."""

from __future__ import annotations

import pytest
from bench.simulated_alarms import FEW, MANY, simulated


@pytest.mark.parametrize(("sizes", "crowded", "checks"), [(FEW, False, 40), (MANY, True, 15)])
def test_a_restless_machine_alarms_hardly_ever_and_only_thanks_to_the_care(
    sizes: tuple[int, int], crowded: bool, checks: int
) -> None:
    alarmed, careless = simulated(checks, 1.0, sizes, crowded=crowded, seed=3)
    assert alarmed <= checks * 0.07
    assert careless >= checks / 4
