"""Options that take a share: 5% or 0.05."""

from __future__ import annotations

from typing import Any

import rich_click as click

from clonometer.errors import UsageError
from clonometer.units import parse_share


class Share(click.ParamType):  # type: ignore[type-arg] # its parameter is newer than rich-click asks for
    """A share above 0, as ``5%`` or ``0.05``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the option's text."""
        if isinstance(value, float):
            return value
        try:
            return parse_share(str(value))
        except UsageError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)


SHARE = Share()
