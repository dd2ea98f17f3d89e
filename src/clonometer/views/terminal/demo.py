"""A demo on a terminal: the lines that matter, what they printed, what it means. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.views.terminal.text import elide, page, paint, wrap

LEAST_WIDTH = 40


def render_demo(
    title: str,
    question: str,
    *,
    shown: str,
    output: str,
    explanation: Sequence[str],
    build: str,
    name: str,
    width: int = 80,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """Write a demo as text.

    Parameters
    ----------
    title, question, explanation
        Sentences.
    shown
        Lines of C.
    output
        What the program printed.
    build
        The command that compiles it.
    name
        What it is called on the command line.
    width
        Columns of the terminal; fewer than 40 are taken as 40.
    colour, ascii_only
        Whether to use ANSI colours, and whether to keep to ASCII.

    Returns
    -------
    str
        Lines, each ended by a newline.
    """
    width = max(width, LEAST_WIDTH)
    drawn = [paint(title, "bold", colour), *wrap(question, width), ""]
    drawn += [elide(f"  {line}".rstrip(), max(width, 100)) for line in shown.splitlines()]
    drawn += ["", paint("It printed", "bold", colour)]
    for line in output.splitlines():
        key, _, value = line.partition(" = ")
        drawn += wrap(value, width, bullet=f"  {key} = ") or [f"  {line}"]
    drawn += ["", paint("What was seen", "bold", colour)]
    drawn += [piece for sentence in explanation for piece in wrap(sentence, width, bullet="- ")]
    drawn += ["", *wrap(f"The whole program: clonometer demo {name} --source; it builds with: {build}", width)]
    return page(drawn, ascii_only=ascii_only)
