"""What comparisons of runs and of two sides share on a terminal: the colours of verdicts, and reasons kept short."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.types import FASTER, HIGHER, LOWER, SLOWER
from clonometer.views.terminal.text import wide_adds, wrap_each

VERDICT_STYLES = {SLOWER: "bad", FASTER: "bold", HIGHER: "bold", LOWER: "bold"}
SHORT_REASONS = 3


def reason_lines(reasons: Sequence[str], hidden_rows: int, *, width: int, wide: bool) -> list[str]:
    """Write why something was not compared, the first reasons or all of them, and what ``--wide`` would add."""
    kept = reasons if wide else reasons[:SHORT_REASONS]
    lines = wrap_each(kept, width, bullet="! ")
    return lines + wide_adds((hidden_rows, "row"), (len(reasons) - len(kept), "reason"))
