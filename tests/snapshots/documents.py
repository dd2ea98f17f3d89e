"""Every answer of ``tests/views/sample_documents.py`` in the terminal, as Markdown, page and JSON.

In the terminal it is as it is asked at the usual width, and with everything (``--wide``) where there is more room.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from clonometer.views.html.document import render_document_page
from clonometer.views.markdown import render_markdown
from clonometer.views.terminal.document import render_document
from tests.views.sample_documents import SAMPLES, Sample

WIDTHS = (80, 120)
#: Half a megabyte of what draws and paints; what is drawn is asserted where it is computed.
_INLINED = re.compile(r"<(script|style)\b[^>]*>.*?</\1>", re.DOTALL)
#: Two processors may differ in the last digits of a float.
_DIGITS = 6


def documents() -> Iterator[tuple[str, str]]:
    """Give each file's name and its text."""
    for name, sample in SAMPLES.items():
        for suffix, text in _forms(sample):
            yield f"documents/{name}{suffix}", text


def _forms(sample: Sample) -> Iterator[tuple[str, str]]:
    for width, form in zip(WIDTHS, (sample.short, sample.document), strict=True):
        yield f".{width}.txt", render_document(lambda form=form: form, width=width)
    # Not .md: what strangers say, and long tables, are no pages of the documentation.
    yield ".markdown", render_markdown(sample.document)
    yield ".html", _INLINED.sub("", render_document_page(sample.document))
    if sample.json is not None:
        yield ".json", as_json(sample.json)


def as_json(answer: Any) -> str:
    """Write an answer with a line for each thing that may change, and no more digits than any processor agrees on."""
    return json.dumps(_rounded(answer), indent=1, ensure_ascii=False) + "\n"


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case dict():
            return {key: _rounded(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_rounded(inner) for inner in value]
    return value
