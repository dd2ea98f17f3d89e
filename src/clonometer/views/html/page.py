"""Pages: a template filled with values, and everything that a page carries inside it."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clonometer.views.drawing import can_draw, chart_script, how_to_install
from clonometer.views.html.table import css_class, folding_style, page_rows, table_size
from clonometer.views.terminal.text import CONTROL

if TYPE_CHECKING:
    import jinja2

_HERE = Path(__file__).parent


def render_page(
    template: str, *scripts: str, styles: Sequence[str] = (), data: Any = None, charts: Any = None, **values: Any
) -> str:
    """Fill a template with ``values``, and with what a page carries inside it.

    That is its style with its own ``styles``, its scripts, the ``data`` that these read and, if it draws ``charts``,
    these and the library for it. Where that is not installed the page says so, and how to get it, in place of its
    charts.
    """
    missing = charts is not None and not can_draw()
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            style="\n".join([_asset("style.css"), folding_style(_asset("fold.css")), *map(_asset, styles)]),
            script="\n".join(map(_asset, scripts)),
            data="" if data is None else _embedded(data),
            draws=charts is not None,
            charts="" if charts is None else _packed(_embedded(charts)),
            chart_library=_chart_library() if charts is not None and not missing else "",
            charts_missing=how_to_install() if missing else "",
        )
    )


@lru_cache(1)
def _environment() -> jinja2.Environment:
    """Make what fills templates: strict, and escaping all that is inserted."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_cleaned,
    )
    made.globals |= {"page_rows": page_rows, "css_class": css_class, "table_size": table_size}
    return made


def _cleaned(value: Any) -> Any:
    """What is inserted, without control characters and halves of characters, which names from elsewhere may have."""
    return CONTROL.sub("?", value) if type(value) is str else value


def _asset(name: str) -> str:
    """The text of a style sheet or script."""
    return (_HERE / name).read_text(encoding="utf-8")


def _embedded(data: Any) -> str:
    """Write JSON that cannot end the script element it stands in, whatever names and texts it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = CONTROL.sub("?", text)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


@lru_cache(maxsize=1)
def _chart_library() -> str:
    """Vega and Vega-Lite as one script: it is more than half of most pages."""
    return _packed(chart_script())


def _packed(text: str) -> str:
    """Compress what a page only uses where it draws: a browser that cannot unpack it draws nothing."""
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")
