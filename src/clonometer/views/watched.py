"""A process that is watched: what a fork would cost it now, and a chart of what it would have cost so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.units import approximate_bytes, format_duration, format_share
from clonometer.views.documents.predict import JsonObject, answer_blocks, span
from clonometer.views.terminal.document import group_lines
from clonometer.views.terminal.text import clean, rendered, wrap

_BARS = " ▁▂▃▄▅▆▇█"
_PLAIN_BARS = " .:-=+*#@"
_MOST_SCALE = 1.1


def chart(values_ns: Sequence[float], width: int, *, ascii_only: bool = False) -> str:
    """Draw values as bars of one line, from 0 to a little more than the highest; the last ones where room is short.

    Examples
    --------
    >>> chart([1.0, 2.0, 4.0], 10, ascii_only=True)
    ':=#'
    """
    bars = _PLAIN_BARS if ascii_only else _BARS
    shown = list(values_ns)[-width:]
    most = max(shown, default=0.0) * _MOST_SCALE or 1.0
    steps = len(bars) - 1
    return "".join(bars[min(steps, round(value / most * steps))] for value in shown)


def watched_line(document: JsonObject) -> str:
    """What `--watch` writes at each turn where the output is no terminal."""
    fork = document["fork"]
    return (
        f"{document['watched_s']:.0f} s: {approximate_bytes(document['rss_bytes'])}, fork() "
        f"{span(fork['first_ns'])}, until exec {span(document['waits']['until_exec_ns'])}"
    )


@rendered(least_width=40)
def render_watched(
    document: JsonObject, history_ns: Sequence[float], *, width: int, colour: bool, plain: bool = False
) -> Iterator[str]:
    """Write what `--watch` shows: the answer, and a chart of what a first fork would have cost so far."""
    yield from group_lines(answer_blocks(document), width, colour)
    yield ""
    bars = chart(history_ns, width - 2, ascii_only=plain)
    yield f"  {bars}"
    yield from wrap(
        f"First fork, from {format_duration(min(history_ns))} to {format_duration(max(history_ns))} in the last "
        f"{document['watched_s']:.0f} s. Ctrl-C ends it.",
        width,
        bullet="  ",
    )
    if document["contributors"]:
        largest = document["contributors"][0]
        yield from wrap(
            f"Most of it: {clean(largest['label'])}, {approximate_bytes(largest['rss_bytes'])}, "
            f"{format_share(largest['share'])}.",
            width,
            bullet="  ",
        )
