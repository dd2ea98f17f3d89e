from __future__ import annotations

import re
from pathlib import Path

from clonometer.model.conditions import FULL, QUICK, REFERENCE, affordable, memory_bytes

MAKER = Path(__file__).parents[2] / "core" / "targets" / "maker.c"
GIB = 1 << 30


def test_conditions_ask_for_what_the_maker_knows_and_for_all_of_it() -> None:
    known = set(re.findall(r'\] = "(\w+)"', MAKER.read_text()))
    assert {key for wanted in FULL.values() for key in wanted} == known
    assert QUICK.keys() <= FULL.keys()
    assert REFERENCE.keys() <= QUICK.keys() | FULL.keys()


def test_what_does_not_fit_into_memory_is_left_out_and_named() -> None:
    assert memory_bytes({"dense_pages": 262_144, "huge_pages": 512}) == 2 * GIB
    assert affordable(FULL, None) == (FULL, {})
    assert affordable(FULL, 64 * GIB) == (FULL, {})
    chosen, left_out = affordable(FULL, 3 * GIB)
    assert set(left_out) >= {"262144 pages in a row", "262144 scattered pages"}
    assert "nothing" in chosen
    assert set(chosen).isdisjoint(left_out)
    assert sum(memory_bytes(wanted) for wanted in chosen.values()) <= 3 * GIB / 4
    assert "free memory" in left_out["262144 pages in a row"]
