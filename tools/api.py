"""The Python API's reference, written from the docstrings: docs/api.md.

``python -m tools.api docs/api.md`` writes it anew; a test fails while the file is not current.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import clonometer
from clonometer.files import write_text

_HEAD = """\
# The Python API

Written by `python -m tools.api docs/api.md` from the docstrings; do not edit it here. [python.md](python.md) has an
example to begin with. What is not named here may change without notice ([stability.md](stability.md)).

Times are in ns unless a name ends otherwise. What goes wrong is a `clonometer.errors.ClonometerError` with a `message`
and a `hint`.
"""


def reference() -> str:
    """Write the reference as Markdown."""
    return "\n".join([_HEAD, *(line for name in sorted(clonometer.__all__) for line in _entry(name))])


def _entry(name: str) -> Iterator[str]:
    offered = getattr(clonometer, name)
    if inspect.isclass(offered):
        yield from _described(f"clonometer.{name}", offered)
        for method, function in vars(offered).items():
            if not method.startswith("_"):
                yield from _described(f"{name}.{method}", function, level=3)
    elif callable(offered):
        yield from _described(f"clonometer.{name}", offered)


def _described(title: str, offered: object, *, level: int = 2) -> Iterator[str]:
    yield f"{'#' * level} {title}\n"
    yield "```text"
    if inspect.isfunction(offered):
        yield f"{_signature(title.rpartition('.')[2], offered)}\n"
    yield f"{inspect.getdoc(offered)}\n```\n"


def _signature(name: str, function: object) -> str:
    """A parameter a line."""
    assert callable(function)
    signature = inspect.signature(function)
    separated, lines = False, []
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not separated:
            separated = True
            lines.append("*")
        # Objects would be printed with their addresses.
        shown = parameter.default if isinstance(parameter.default, str | int | float | tuple | None) else "..."
        known = f" = {shown!r}" if shown != "..." else " = ..."
        default = "" if parameter.default is parameter.empty else known
        annotation = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
        lines.append(f"{parameter.name}{annotation}{default}")
    inside = "".join(f"\n    {line}," for line in lines)
    return (
        f"{name}({inside}\n) -> {signature.return_annotation}"
        if lines
        else f"{name}() -> {signature.return_annotation}"
    )


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), reference())
