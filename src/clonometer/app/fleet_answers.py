"""``fleet show`` and ``fleet compare``: what a folder with runs of many hosts says."""

from __future__ import annotations

from clonometer.dataset.compare import compare_fleet
from clonometer.dataset.show import show_fleet

__all__ = ["compare_fleet", "show_fleet"]
