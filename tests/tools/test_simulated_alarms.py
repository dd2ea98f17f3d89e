"""``make bench BENCH=simulated_alarms`` in small, and that it can fail."""

from __future__ import annotations

from bench.simulated_alarms import simulated


def test_a_restless_machine_alarms_hardly_ever_and_only_thanks_to_the_care() -> None:
    found, careless = simulated(40, 1.0, 3)
    assert found <= 3
    assert careless >= 10
