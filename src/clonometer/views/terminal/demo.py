"""A demo on a terminal: the lines that matter, what they printed, what it means. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.studies.demonstrations import Demo
from clonometer.views.terminal.text import elide, paint, rendered, wrap, wrap_each


@rendered(least_width=40)
def render_demo(demo: Demo, output: str, explanation: Sequence[str], *, width: int, colour: bool) -> list[str]:
    """Write a demo: its lines of C, what the program printed, what that means, and the command that builds it."""
    drawn = [paint(demo.title, "bold", colour), *wrap(demo.question, width), ""]
    drawn += [elide(f"  {line}".rstrip(), max(width, 100)) for line in demo.shown.splitlines()]
    drawn += ["", paint("It printed", "bold", colour)]
    for line in output.splitlines():
        key, _, value = line.partition(" = ")
        drawn += wrap(value, width, bullet=f"  {key} = ") or [f"  {line}"]
    drawn += ["", paint("What was seen", "bold", colour)]
    drawn += wrap_each(explanation, width, bullet="- ")
    whole = f"The whole program: clonometer demo {demo.name} --source; it builds with: {demo.build}"
    return [*drawn, "", *wrap(whole, width)]
