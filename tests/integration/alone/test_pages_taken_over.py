"""Who copies a page and who takes it over, by a count of the whole machine."""

from __future__ import annotations

import pytest
from tests import probe
from tests.integration.started import happens
from tests.integration.test_cow import PAGE, SIDES, vmstat

pytestmark = pytest.mark.real


@pytest.mark.skipif(vmstat("pgreuse") is None, reason="this kernel does not count pages that are taken over")
@pytest.mark.parametrize("workload", SIDES)
def test_pages_are_copied_while_the_other_lives_and_taken_over_when_it_has_gone(workload: str) -> None:
    pages, samples = 4096, 8
    words = [f"workload={workload}", f"written_bytes={pages * PAGE}", f"samples={samples}", "blocks=1", "warmup=0"]

    def taken_over(other: str) -> int:
        before = vmstat("pgreuse")
        probe.ask(*words, f"other_process={other}")
        return vmstat("pgreuse") - before

    # The count is the whole machine's: what else runs can only add to it.
    all_pages = min(taken_over("gone") for _ in range(3))
    assert all_pages >= 0.95 * pages * samples
    assert happens(lambda: taken_over("alive") < all_pages / 2)
