"""Seeds for the order of measuring."""

from __future__ import annotations

import secrets


def draw_seed(given: int | None = None) -> int:
    """Draw a seed for the order of a run, unless one is given."""
    return secrets.randbelow(2**31) if given is None else given
