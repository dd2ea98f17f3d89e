"""Examples at the end of a command's help, line by line as they would be typed."""

from __future__ import annotations

from typing import Any

from rich.text import Text


def examples(*lines: str) -> Any:
    """Make the epilog of a command from examples; a comment may follow each after two spaces and ``#``."""
    # A Text, since rich-click joins the lines of an epilog that is a plain string.
    return Text("\n".join(["Examples:", *(f"  {line}" for line in lines)]))
