"""What encoders share: the names of an entry of ``cells`` and of what it measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def measured(entry: Mapping[str, Any]) -> str:
    """Name what an entry measured: its stage, or its quantity outside launches.

    Examples
    --------
    >>> measured({"stage": "reaped", "quantity": "reaped_ns"}), measured({"stage": None, "quantity": "cost_ns"})
    ('reaped', 'cost')
    """
    return str(entry["stage"] or str(entry["quantity"]).removesuffix("_ns").removesuffix("_bytes"))


def labels(entry: Mapping[str, Any]) -> dict[str, str]:
    """What tells an entry from all others of its run."""
    names = ("cell", "workload", "temperature", "stage", "placement", "quantity")
    return {name: str(entry[name]) for name in names if entry[name] is not None}


def figures(entry: Mapping[str, Any]) -> tuple[float, float | None, float | None] | None:
    """Median and ends of its interval: in ns, or in the entry's unit where that is no time; None without samples."""
    keys = ("median_ns", "median_low_ns", "median_high_ns")
    if entry["median_ns"] is None:
        keys = ("value", "value_low", "value_high")
    value = entry.get(keys[0])
    return None if value is None else (value, entry.get(keys[1]), entry.get(keys[2]))


def figures_unit(entry: Mapping[str, Any]) -> str:
    """The unit of `figures`."""
    return "ns" if entry["median_ns"] is not None else str(entry["unit"])
