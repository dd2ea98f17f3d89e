"""The book of launch paths as a page, written from its data.

``python -m publications.launch_paths docs/launch-paths.md`` writes it.

It needs no runtime: the versions that were checked are those that ``clonometer paths --check --record`` has written.
A test fails while the file is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from clonometer.files import write_text
from clonometer.launch_paths.reading import load_book
from clonometer.views.documents.paths import whole_document
from clonometer.views.markdown import render_markdown

_NOTE = "<!-- Written by make docs from src/clonometer/launch_paths: do not edit it here. -->\n\n"


def page() -> str:
    """The page's text."""
    return _NOTE + render_markdown(whole_document(load_book()))


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), page())
