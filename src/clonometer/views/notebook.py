"""Documents and pictures below the cell of a notebook, which has headings and a width of its own."""

from __future__ import annotations

import re

from clonometer.views.document import Document
from clonometer.views.markdown import render_markdown

_TITLE = re.compile(r"\A# (.*)$", re.MULTILINE)
_HEADING = re.compile(r"^(?=##+ )", re.MULTILINE)


def notebook_markdown(document: Document) -> str:
    """Write a document as Markdown whose headings are smaller than those of the notebook around it."""
    return _HEADING.sub("##", _TITLE.sub(r"**\1**", render_markdown(document), count=1))


def notebook_svg(svg: str) -> str:
    """Let a picture be no wider than the notebook."""
    return svg.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)
