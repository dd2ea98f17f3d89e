"""What is made of what a host says of itself: how far its clock is apart, and whether it must be brought ours."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from typing import Any

from clonometer._version import __version__
from clonometer.errors import UnavailableError
from clonometer.fleet import remote_worker


def clock_of(known: Mapping[str, Any], before_s: float, after_s: float) -> dict[str, float]:
    """How far a host's clock is apart, from the times that it noted and ours around them, as NTP reckons (RFC 5905).

    Examples
    --------
    >>> clock_of({"began": 105.0, "ended": 107.0}, 1.0, 4.0)
    {'apart_s': 103.5, 'apart_within_s': 0.5}
    """
    began_s, ended_s = float(known["began"]), float(known["ended"])
    if not (math.isfinite(began_s) and math.isfinite(ended_s)):
        raise ValueError(f"its clock says {began_s}")
    return {
        "apart_s": ((began_s - before_s) + (ended_s - after_s)) / 2,
        "apart_within_s": ((after_s - before_s) - (ended_s - began_s)) / 2,
    }


def what_is_brought(known: Mapping[str, Any], drivers: str, *, bring: bool) -> str | None:
    """Say what a host lacks that is to be brought there; None where what it has is the same as here.

    ``known`` is what the host said of itself (`clonometer.fleet.remote_worker.look`), ``drivers`` the digest of
    the drivers here: hosts are compared as measured by the same programs. ``bring`` says whether anything may be
    brought.

    Raises
    ------
    UnavailableError
        If the host cannot take part, with the reason.
    """
    same_version = known["version"] == __version__
    if same_version and known["drivers"] == drivers:
        return None
    if same_version:
        lacks = f"its drivers of Clonometer {__version__} are a different build"
    elif known["version"]:
        lacks = f"it has Clonometer {known['version']}"
    else:
        lacks = f"it has no Clonometer ({known['why']})"
    if known["arch"] != platform.machine():
        if same_version:
            # Built there: machines of two kinds cannot be measured by the same program in any case.
            return None
        raise UnavailableError(
            f"{lacks}; it is {known['arch']}, and what is here was built for {platform.machine()}: install it there"
        )
    if not bring:
        raise UnavailableError(f"{lacks}, and with --no-bring {__version__} is not sent there")
    if tuple(known["python"]) < remote_worker.OLDEST_PYTHON:
        raise UnavailableError(f"{lacks}, and its Python {'.'.join(map(str, known['python']))} is older than 3.11")
    return lacks
