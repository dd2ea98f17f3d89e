"""Options that take a time: 10, 500ms, 10s, 2m or 1h."""

from __future__ import annotations

from typing import Any

import rich_click as click

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_S = 1e7


class Duration(click.ParamType):  # type: ignore[type-arg] # as in shares.py
    """A time above 0, in seconds or with its unit; seconds as the command gets it."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the option's text."""
        text = str(value).strip()
        unit = next((unit for unit in _SECONDS if text.endswith(unit)), "s")
        try:
            seconds = float(text.removesuffix(unit)) * _SECONDS[unit]
        except ValueError:
            seconds = -1.0
        if not 0 < seconds <= _MOST_S:
            self.fail(f"{value!r} is not a time; times look like 10, 500ms, 10s or 2m", param, ctx)
        return seconds


DURATION = Duration()
