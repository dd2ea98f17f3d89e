"""A demo on a terminal: the lines that matter, what they printed, what it means. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.views.terminal.text import elide, paint, rendered, wrap, wrap_each


@rendered(least_width=40)
def render_demo(
    title: str,
    question: str,
    *,
    shown: str,
    output: str,
    explanation: Sequence[str],
    build: str,
    name: str,
    width: int,
    colour: bool,
) -> list[str]:
    """Write a demo: its lines of C, what the program printed, what that means, and the command that builds it."""
    drawn = [paint(title, "bold", colour), *wrap(question, width), ""]
    drawn += [elide(f"  {line}".rstrip(), max(width, 100)) for line in shown.splitlines()]
    drawn += ["", paint("It printed", "bold", colour)]
    for line in output.splitlines():
        key, _, value = line.partition(" = ")
        drawn += wrap(value, width, bullet=f"  {key} = ") or [f"  {line}"]
    drawn += ["", paint("What was seen", "bold", colour)]
    drawn += wrap_each(explanation, width, bullet="- ")
    drawn += ["", *wrap(f"The whole program: clonometer demo {name} --source; it builds with: {build}", width)]
    return drawn
