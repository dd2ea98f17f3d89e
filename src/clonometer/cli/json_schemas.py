"""What a command says of its JSON: docs/schemas are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_WITHIN = (
    "NaN and infinities never occur. Within one schema number keys may be added; none is removed or changes its "
    "meaning."
)


class JsonSchema(NamedTuple):
    """One schema: its name, what it says of the whole, and the records that a document may be, by their names in it.

    ``title`` is what writes it. ``has_nulls``: a number that does not exist is null.
    """

    name: str
    about: str
    roots: Mapping[str, type]
    title: str
    has_nulls: bool = True

    @property
    def description(self) -> str:
        """What the schema says of the whole, and what holds for all."""
        nulls = "A figure that does not exist is null. " if self.has_nulls else ""
        return f"{self.about} {nulls}{_WITHIN}"
