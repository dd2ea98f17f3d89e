"""Lines of the page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

_WIDTH = 128


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False) + "\n"


def place(result: Mapping[str, Any]) -> str:
    """Where and when it was measured."""
    busy = f"load {result['load']} on {result['cpus']} CPUs"
    return f"{result['machine']}, Linux {result['kernel']}, {result['date']}, {busy}."
