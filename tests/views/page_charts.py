"""What a page draws: it stands in the page compressed."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from typing import Any

_DATA = re.compile(r'<script type="text/plain" id="chart-data">(.*?)</script>', re.DOTALL)


def page_charts(page: str) -> dict[str, Any]:
    """The charts of a page, its charts with choices and its theme; empty where it draws nothing."""
    stored = _DATA.findall(page)
    assert len(stored) <= 1
    return dict(json.loads(gzip.decompress(b64decode(stored[0])))) if stored else {}
