"""What grows with a number: told as a slope only where a line holds, and only as far as it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.ends import duration_words, interval_ends
from clonometer.results.findings.wording import (
    listed,
    measured,
    median_with_ends,
    not_sure,
    sentences,
    short_median,
)
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.polynomial import Polynomial, polynomial_through_medians
from clonometer.stats.quantiles import median
from clonometer.verdicts import Direction

#: A line misses a median that is further from it than this share, and whose interval does not reach it.
MOST_MISS = 0.1
#: Any two points lie on a line.
_LEAST_POINTS = 3


@dataclass(frozen=True)
class Trend:
    """The line through all points, and the longest one from the first point on that misses none of its points.

    ``straight`` is None where even the first three do not lie on a line; ``upto`` is the place of the last point that
    lies on it. ``largest_miss`` is the largest distance of a median from ``line``, as a share of that median.
    """

    line: Polynomial
    largest_miss: float
    straight: Polynomial | None
    upto: int

    @property
    def rises(self) -> bool:
        """Whether the straight part surely rises."""
        return self.straight is not None and self.straight.slope.n > 1 and self.straight.slope.low > 0


@dataclass(frozen=True)
class Growth:
    """Points that differ in one number alone, their trend, and each further point against the first."""

    points: Sequence[RunEstimate]
    trend: Trend
    over_first: Sequence[Change[RunEstimate]]

    @property
    def ends(self) -> Change[RunEstimate]:
        """The last point against the first."""
        return self.over_first[-1]

    @property
    def what(self) -> str:
        """What was timed, in words."""
        return measured(self.points[0].stage, self.points[0].quantity)

    @property
    def is_line(self) -> bool:
        """Whether all points lie on a line that rises, and the last one surely takes longer than the first."""
        return self.ends.direction == Direction.MORE and self.trend.rises and self.trend.upto == len(self.points) - 1


@dataclass(frozen=True)
class Words:
    """How to call things.

    Attributes
    ----------
    name
        Who grows.
    thing
        What a slope is for each of, as ``VMA``; ``of_x`` of them are one of the trend's x.
    place
        The words for a point's number, which stand after ``at``.
    where
        The condition of all points, or nothing.
    brief
        Other words for the thing and the condition, for one line of a terminal: what is usual may be left out there.
    """

    name: str
    thing: str
    of_x: float
    place: Callable[[RunEstimate], str]
    where: str
    at: str = "at"
    brief: tuple[str, str] | None = None

    @property
    def tail(self) -> str:
        """The condition as it ends a sentence."""
        return f", {self.where}" if self.where else ""

    def slope(self, line: Polynomial) -> str:
        """A slope with its interval."""
        factor = 1 / self.of_x
        return duration_words(line.slope.value * factor, interval_ends(line.slope, factor))


def trend_of(tests: PairwiseTests, points: Sequence[RunEstimate], x: Sequence[float], *names: str | None) -> Trend:
    """Fit lines through the medians of at least two points at ``x``, rising; ``names`` derive the seed."""
    line = _line(tests, points, x, names)
    largest_miss = _largest_miss(line, points, x)
    held = line
    for last in range(len(points) - 1, 0, -1):
        if not any(_misses(held, row, at) for row, at in zip(points[: last + 1], x, strict=False)):
            return Trend(line, largest_miss, held, last)
        if last < _LEAST_POINTS:
            break
        held = _line(tests, points[:last], x[:last], names)
    return Trend(line, largest_miss, None, 0)


def growth_of(tests: PairwiseTests, points: Sequence[RunEstimate], trend: Trend) -> Growth | None:
    """Compare each further point with the first; None where that has no ratio to them."""
    comparisons = tests.compare_all((point, points[0]) for point in points[1:])
    return Growth(points, trend, comparisons) if len(comparisons) == len(points) - 1 else None


def growth_texts(growths: Sequence[Growth], words: Words) -> tuple[str, str]:
    """Say it in full, and in one sentence by the first growth alone."""
    thing, where = words.brief or (words.thing, words.where)
    return _texts(growths, words)[0], _texts(growths[:1], replace(words, thing=thing, where=where))[1]


def _texts(growths: Sequence[Growth], words: Words) -> tuple[str, str]:
    first = growths[0]
    ends, apart = first.ends, [each for each in first.over_first[:-1] if each.direction != Direction.UNKNOWN]
    last, begin = words.place(first.points[-1]), words.place(first.points[0])
    head = f"{words.name}{words.tail}"
    if ends.direction == Direction.UNKNOWN:
        [unknown] = not_sure(last, begin, [ends], at=lambda _: first.what)
        if not apart:
            return (sentences(f"{head}: {unknown}"),) * 2
        most = max(apart, key=lambda each: each.size)
        hump = f"{head}: {_times(most, words)} {first.what}"
        return sentences(hump, f"{unknown}, so there is no trend from end to end"), sentences(f"{hump}; {unknown}")
    ratio = _times(ends, words)
    if first.is_line and first.trend.straight is not None:
        lines = [growth for growth in growths if growth.is_line]
        slopes = listed([f"{_slope(growth, words)} {_to(growth, first, words)}" for growth in lines])
        flat = [growth for growth in growths if growth.ends.direction == Direction.UNKNOWN]
        text = sentences(
            f"each {words.thing} adds {slopes}{words.tail}",
            f"{words.name} takes {ratio} {first.what}",
            *(text for growth in flat for text in not_sure(last, begin, [growth.ends])),
        )
        return text, sentences(
            f"each {words.thing} adds {_slope(first, words)} to {words.name} {first.what}{words.tail}"
        )
    if first.trend.rises and first.trend.straight is not None and ends.direction == Direction.MORE:
        upto = words.place(first.points[first.trend.upto])
        line = f"each {words.thing} adds {words.slope(first.trend.straight)} to {words.name} {first.what} up to {upto}"
        off = f"{median_with_ends(first.points[-1])} {words.at} {last}"
        return (
            sentences(f"{line}{words.tail}", f"it takes {off}, which is off that line: {ratio}"),
            sentences(f"{line} ({short_median(first.points[-1])} {words.at} {last}){words.tail}"),
        )
    values = [f"{median_with_ends(row)} {words.at} {words.place(row)}" for row in (first.points[0], first.points[-1])]
    medians = f"{head}: {' and '.join(values)} {first.what}"
    bent = "the points are not on a straight line" if ends.direction == Direction.MORE and len(first.points) > 2 else ""
    return sentences(medians, f"that is {ratio}", bent), sentences(medians)


def _times(comparison: Change[RunEstimate], words: Words) -> str:
    """How many times as long the longer side takes."""
    longer, shorter = map(words.place, comparison.upward.sides)
    return f"{comparison.upward.text} times as long {words.at} {longer} as {words.at} {shorter}"


def _slope(growth: Growth, words: Words) -> str:
    return words.slope(growth.trend.straight or growth.trend.line)


def _to(growth: Growth, first: Growth, words: Words) -> str:
    return f"to {words.name} {growth.what}" if growth is first else growth.what


def _line(
    tests: PairwiseTests, points: Sequence[RunEstimate], x: Sequence[float], names: Sequence[str | None]
) -> Polynomial:
    values = [row.processes.values for row in points]
    return tests.cached(
        ("line", *map(id, points)), lambda: polynomial_through_medians(x, values, 1, seed=tests.seed_for(*names))
    )


def _largest_miss(line: Polynomial, points: Sequence[RunEstimate], x: Sequence[float]) -> float:
    medians = [median(row.processes.values) for row in points]
    return max((abs(each - line.at(at)) / abs(each) for each, at in zip(medians, x, strict=True) if each), default=0.0)


def _misses(line: Polynomial, row: RunEstimate, x: float) -> bool:
    median_ns, low, high = row.median_with_ends
    on_line = line.at(x)
    return abs(on_line - median_ns) > MOST_MISS * abs(median_ns) and not low <= on_line <= high
