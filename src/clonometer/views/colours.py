"""One colour for each mechanism, each kind of task and each verdict, the same in every chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from clonometer.families import axis, workload_words
from clonometer.results.series_types import SIDES, TASK_KIND
from clonometer.words import axis_words, mechanism_name

#: At least 3:1 against white and against the pages' dark ground; any two differ by 9 or more (CIEDE2000) to people
#: without red, green or blue cones, by 17 to all others. Grey is for what is not data.
HUES = {
    "blue": "#2460f0",
    "orange": "#cc7800",
    "teal": "#30786c",
    "purple": "#846090",
    "red": "#d81824",
    "olive": "#787848",
    "cyan": "#009cb4",
    "rose": "#c03c6c",
    "sand": "#a88478",
    "grey": "#788490",
}
PALETTE = tuple(HUES.values())
GREY = HUES["grey"]
#: Of what is drawn in no colour of its own: blue and orange are for threads and processes.
OTHERS = PALETTE[2:-1]
SLOWER, FASTER = HUES["red"], HUES["teal"]


class Drawn(NamedTuple):
    """What a line or a point is of, in words, and the colour which that has in every chart."""

    of: str
    colour: str


def of_mechanism(workload: str) -> Drawn:
    """A mechanism with its colour: that of its family's module, else one that follows from its name alone."""
    chosen = workload_words(workload).colour
    return Drawn(mechanism_name(workload), HUES[chosen] if chosen else OTHERS[crc32(workload.encode()) % len(OTHERS)])


def kinds_of_task() -> dict[str, Drawn]:
    """Threads and processes with their colours, by the value of the axis."""
    colours = axis(TASK_KIND).colours
    return {kind: Drawn(axis_words(TASK_KIND, kind), HUES[colour]) for kind, colour in colours.items()}


def of_lines(lines: Sequence[tuple[str, Mapping[str, int | str]]]) -> list[Drawn]:
    """What each line of a chart is of, given its workload and condition.

    Lines of one mechanism, some of which say of what kind their tasks are (others are threads), have the colours of
    these kinds; other lines have those of their mechanisms.
    """
    kinds = kinds_of_task()
    if len({workload for workload, _ in lines}) == 1 and any(TASK_KIND in condition for _, condition in lines):
        return [kinds[str(condition.get(TASK_KIND, SIDES[0]))] for _, condition in lines]
    return [of_mechanism(workload) for workload, _ in lines]
