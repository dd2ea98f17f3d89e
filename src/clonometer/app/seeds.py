"""Seeds for the order of measuring."""

from __future__ import annotations

import secrets


def draw_seed() -> int:
    """Draw a seed for the order of a run."""
    return secrets.randbelow(2**31)
