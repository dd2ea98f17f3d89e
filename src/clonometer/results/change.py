"""How much more one side takes than another, and whether that is sure: what every comparison gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

from clonometer.records import As, Count, Ge, Key, Le, Mark, Only, computed_field, to_json
from clonometer.units import figures, format_ratio
from clonometer.verdicts import Direction, Word

_Side = TypeVar("_Side")


class ChangeScale(StrEnum):
    """What a change is: the other side over the base, or less it."""

    RATIO = "ratio"
    DIFFERENCE = "difference"

    @property
    def unchanged(self) -> float:
        """What it is between sides that are alike."""
        return 1.0 if self == ChangeScale.RATIO else 0.0


@dataclass(frozen=True, kw_only=True)
class Change(Generic[_Side]):
    """How much more ``other`` takes than ``base``, and whether that is sure.

    Attributes
    ----------
    base, other
        What is compared.
    value, low, high
        The other side over the base, or less it in ``unit``, with the ends of its interval. All None where there is no
        ratio, the ends where there is no interval: of one process nothing is known of others.
    direction
        What is sure of it; unknown is not the same as equal.
    p
        The p-value of there being no change, after the correction; None where nothing was tested.
    method, correction
        How the interval was made, and what the verdict is corrected for, in words.
    confidence, n
        What the interval is made to cover, and how many processes, pairs or runs it rests on.
    word
        How sure it is: sure, likely or open.
    at_least, told_from
        Of a sure one, how far the sides are apart at least; else from which ratio or difference on it would be sure.
    caveat
        Why there is no change to be told; words that follow the interval.
    """

    base: Annotated[_Side, Mark.UNWRITTEN]
    other: Annotated[_Side, Mark.UNWRITTEN]
    scale: Annotated[ChangeScale, Mark.UNWRITTEN] = ChangeScale.RATIO
    unit: Annotated[str, Mark.UNWRITTEN] = ""
    value: float | None = None
    low: Annotated[float | None, "Lower end of its interval."] = None
    high: Annotated[float | None, "Upper end."] = None
    direction: Annotated[Direction, Key("verdict"), "Of the other side over the base."] = Direction.UNKNOWN
    word: Annotated[Word, Key("sureness"), "How sure it is."] = Word.OPEN
    at_least: Annotated[float | None, "Of a sure one: the larger side over the smaller one, or less it, at least."] = (
        None
    )
    told_from: Annotated[
        float | None, "Of one that is not sure: from so much on it would be; null where the processes are too few."
    ] = None
    p: Annotated[float | None, Ge(0), Le(1)] = None
    method: str = ""
    correction: str = ""
    confidence: float | None = None
    n: Count = 0
    caveat: Annotated[str, Mark.UNWRITTEN] = ""

    @property
    def numbers(self) -> dict[str, Any]:
        """Its JSON: ``ratio`` or ``difference_ns`` with both ends, how sure it is, and how that is known."""
        return to_json(self, _RATIO if self.scale == ChangeScale.RATIO else _DIFFERENCE)

    @computed_field(after="high")
    def interval(self) -> tuple[float, float] | None:
        """Both ends; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def sides(self) -> tuple[_Side, _Side]:
        """The other side, and the base."""
        return self.other, self.base

    @property
    def rises(self) -> bool:
        """Whether the other side takes more, sure or not."""
        return self.value is not None and self.value > self.scale.unchanged

    @property
    def upward(self) -> Change[_Side]:
        """The same change from the side that takes less to the one that takes more."""
        return self if self.rises or self.value is None else self.reversed

    @property
    def reversed(self) -> Change[_Side]:
        """The same change with the sides in each other's place."""
        value, low, high = map(self._turned, (self.value, self.high, self.low))
        direction = {Direction.MORE: Direction.LESS, Direction.LESS: Direction.MORE}.get(self.direction, self.direction)
        return replace(self, base=self.other, other=self.base, value=value, low=low, high=high, direction=direction)

    def _turned(self, number: float | None) -> float | None:
        if number is None:
            return None
        return -number if self.scale == ChangeScale.DIFFERENCE else 1 / number

    @property
    def size(self) -> float:
        """How far apart the sides are: the larger over the smaller one, or less it."""
        value = self.upward.value
        return self.scale.unchanged if value is None else value

    def over(self, divisor: float) -> Change[_Side]:
        """A difference in another unit, of which one is a positive ``divisor`` of these."""
        ends = (self.value, self.low, self.high)
        value, low, high = (None if number is None else number / divisor for number in ends)
        return replace(self, value=value, low=low, high=high)

    @property
    def text(self) -> str:
        """Its value with the interval, as words; empty where there is none."""
        if self.value is None:
            return ""
        if self.scale == ChangeScale.RATIO:
            return format_ratio(self.value, self.low, self.high)
        return figures(self.value, self.low, self.high, self.unit).text

    @property
    def aside(self) -> str:
        """The same as words that stand in brackets themselves, and from what on it would be sure."""
        known = self.value is not None and self.told_from is not None
        sure_from = f", sure from {self._bound(self.told_from, math.ceil)} on" if known and self.told_from else ""
        return f"{self.text.replace(' (', ', ').replace(')', '')}{sure_from}{self.caveat}".removeprefix(", ")

    @property
    def least_text(self) -> str:
        """How far the sides are apart at least, where that is sure; else empty.

        Examples
        --------
        >>> Change(base="a", other="b", value=3.9, low=3.4, high=4.6, at_least=3.379).least_text
        'at least 3.3'
        """
        return "" if self.at_least is None else f"at least {self._bound(self.at_least, math.floor)}"

    def _bound(self, value: float, rounded: Callable[[float], int]) -> str:
        """A bound to two digits (between 1 and 2 to three), rounded to the safe side."""
        if self.scale == ChangeScale.DIFFERENCE or value <= 0:
            return figures(value, unit=self.unit).text
        digits = 2 if value < 2 else max(0, 1 - math.floor(math.log10(value)))
        unit = 10.0 ** (digits if value < 100 else 1 - math.floor(math.log10(value)))
        return f"{rounded(value * unit) / unit:,.{digits}f}"


_HOW = (
    "confidence",
    "method",
    "correction",
    As("n", "n_processes"),
    As("p", "p_value"),
    "verdict",
    "sureness",
    "at_least",
    "told_from",
)
_RATIO = Only("ratio_change", (As("value", "ratio"), As("low", "ratio_low"), As("high", "ratio_high"), *_HOW))
_DIFFERENCE = Only(
    "difference_change",
    (As("value", "difference_ns"), As("low", "difference_low_ns"), As("high", "difference_high_ns"), *_HOW),
)
