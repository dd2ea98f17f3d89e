"""What the terms of `clonometer advise` cost here, each measured alone by a workload."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonometer.advice.basis import AdviceBasis
from clonometer.advice.store import NAME, read_terms
from clonometer.advice.terms import MemoryPoint, Terms
from clonometer.advice.wish import Wish
from clonometer.app.advising import basis_for
from clonometer.records import from_json, to_json

#: What the terms are measured for: connections of both kinds, a process with memory, and the languages of servers.
_WISHES = (
    Wish(rate_hz=400, memory_bytes=1 << 20),
    Wish(rate_hz=400, connections="kept"),
    Wish(rate_hz=400, language="python"),
    Wish(rate_hz=400, language="perl"),
)
#: Load generators that send the next request when they have an answer let no server sleep: it is measured as busy.
_BUSY_HZ = 60_000


@dataclass(frozen=True)
class ServerPrices:
    """The terms of this machine, and what memory adds to a fork."""

    terms: Terms
    memory: Sequence[MemoryPoint]

    @property
    def basis(self) -> AdviceBasis:
        """What `clonometer advise` answers from; no slice, since CPU time depends on none."""
        return AdviceBasis(self.terms, self.memory, float("inf"))


def prices() -> dict[str, Any]:
    """Measure all terms anew, in a folder of their own; as JSON. It takes three minutes.

    Raises
    ------
    RuntimeError
        If nothing was measured.
    """
    before = os.environ.get("XDG_DATA_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        try:
            memory, *_ = [basis_for(wish, seed=1, rate_hz=_BUSY_HZ).memory for wish in _WISHES]
            terms = read_terms(Path(folder) / "clonometer" / NAME)
        finally:
            os.environ.pop("XDG_DATA_HOME")
            os.environ |= {} if before is None else {"XDG_DATA_HOME": before}
    if terms is None:
        raise RuntimeError("the terms of servers could not be measured")
    made: dict[str, Any] = to_json(ServerPrices(terms, memory))
    return made


def read_prices(kept: Mapping[str, Any]) -> ServerPrices:
    """Read them again."""
    return from_json(ServerPrices, kept)
