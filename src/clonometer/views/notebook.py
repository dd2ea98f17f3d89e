"""Documents and pictures below the cell of a notebook, which has headings and a width of its own."""

from __future__ import annotations

import base64
import html
import re

from clonometer.views.document import Document
from clonometer.views.markdown import render_markdown

_TITLE = re.compile(r"\A# (.*)$", re.MULTILINE)
_HEADING = re.compile(r"^(?=##+ )", re.MULTILINE)


def notebook_markdown(document: Document) -> str:
    """Write a document as Markdown whose headings are smaller than those of the notebook around it."""
    return _HEADING.sub("##", _TITLE.sub(r"**\1**", render_markdown(document), count=1))


def notebook_picture(svg: str, alt: str) -> str:
    """Write a picture as HTML that is no wider than the notebook, which cuts off wide ones; ``alt`` says what it is."""
    data = base64.b64encode(svg.encode()).decode("ascii")
    return f'<img style="max-width: 100%" alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'
