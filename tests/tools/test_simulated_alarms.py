"""``make bench BENCH=simulated_alarms`` in small, and that it can fail."""

from __future__ import annotations

import pytest
from bench.simulated_alarms import FEW, MANY, simulated


@pytest.mark.parametrize(("sizes", "drift", "crowded"), [(FEW, 1.0, False), (MANY, 1.0, True)])
def test_a_restless_machine_alarms_hardly_ever_and_only_thanks_to_the_care(
    sizes: tuple[int, int], drift: float, crowded: bool
) -> None:
    found, careless = simulated(40, drift, sizes, crowded=crowded, seed=3)
    assert found <= 3
    assert careless >= 10
