"""The additions beside each launch, which tell whether the core was shared: outside of what is timed."""

from __future__ import annotations

import numpy as np
import pytest
from tests import probe

from clonometer.results.rows.source import null_mask

pytestmark = pytest.mark.real
COLUMNS = ("additions_before_ns", "additions_after_ns")


@pytest.mark.parametrize("workload", ["launch.fork", "launch.pthread", "launch.vfork", "launch.none", "flags.none"])
def test_each_launch_has_both(workload: str) -> None:
    for block in probe.ask(f"workload={workload}", "temperatures=cold,warm", "samples=20", "blocks=1").blocks:
        for name in COLUMNS:
            assert (block.columns[name] > 0).all()


def test_they_are_no_part_of_the_launch_but_of_the_time_between() -> None:
    (block,) = probe.ask("workload=launch.none", "samples=500", "blocks=1").blocks
    before, after = (block.columns[name].astype(np.int64) for name in COLUMNS)
    assert np.median(block.columns["reaped_ns"]) < np.median(before) / 2
    # From one start to the next lie what follows the one and what precedes the other, as rounded.
    assert (np.diff(block.columns["start_ns"]) >= after[:-1] + before[1:] - 2).all()


def test_launchers_at_the_same_time_have_none() -> None:
    (block,) = probe.ask("workload=launch.pthread", "concurrency=2", "samples=5", "blocks=1").blocks
    for name in COLUMNS:
        assert null_mask(block.columns[name]).all()
