"""The library that draws, behind one door: where it cannot work it would end the program, or say so in its own way."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

from clonometer.errors import OutputError, UnavailableError
from clonometer.user_cache import kept_text

# Its JavaScript engine reserves 64 GiB of addresses, of which it uses little, and aborts where it does not get them.
_ADDRESSES_BYTES = 66 << 30
_T = TypeVar("_T")


def draw_svg(spec: dict[str, Any]) -> str:
    """Draw a Vega-Lite specification as SVG.

    Raises
    ------
    OutputError
        If the library that draws is not installed: it is an extra.
    UnavailableError
        If nothing can be drawn here: a limit on addresses or threads.
    """
    _check_addresses()
    return str(_called(lambda library: library.vegalite_to_svg(spec)))


def draw_png(spec: dict[str, Any], scale: float) -> bytes:
    """Draw a Vega-Lite specification as PNG, that many pixels a point; as `draw_svg`."""
    _check_addresses()
    return bytes(_called(lambda library: library.vegalite_to_png(spec, scale=scale)))


def chart_script() -> str:
    """The script that draws charts in a page: Vega-Lite and what embeds it, as ``window.vegaEmbed``; as `draw_svg`.

    Bundling takes 1.5 s of CPU time, more than all else of a page, and gives the same script each time: it is kept.
    """
    # Whoever changes the script but not the library must change the name.
    name = f"charts-{_called(lambda library: library.__version__)}.js"
    # The bundle's own Vega-Lite export is null in vl-convert 1.9; the embedder is the way to reach it.
    snippet = "window.vegaEmbed = vegaEmbed;"
    return kept_text(name, lambda: str(_called(lambda library: library.javascript_bundle(snippet))))


def can_draw() -> bool:
    """Whether the library that draws is installed."""
    try:
        return find_spec("vl_convert") is not None
    except ValueError:  # what is None in sys.modules may not be imported
        return False


def check_installed() -> None:
    """Refuse a picture before anything is measured for it; raises as `draw_svg` where nothing is installed."""
    if not can_draw():
        raise OutputError("pictures need vl-convert-python, which is not installed", f"install it: {how_to_install()}")


def how_to_install() -> str:
    """The command that installs it for this interpreter, wherever that is."""
    return f"{sys.executable} -m pip install vl-convert-python"


def _check_addresses() -> None:
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes != resource.RLIM_INFINITY and limit_bytes < _ADDRESSES_BYTES:
        raise UnavailableError(
            f"cannot draw a picture: that takes {_ADDRESSES_BYTES >> 30} GiB of addresses (not of memory), and the "
            f"limit here is {limit_bytes / (1 << 30):.3g} GiB",
            "raise the limit: ulimit -v unlimited",
        )


def _called(draw: Callable[[Any], _T]) -> _T:
    check_installed()
    import vl_convert

    try:
        return draw(vl_convert)
    except BaseException as error:
        # A panic in Rust is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise UnavailableError(
            f"cannot draw a picture: {error}", "a limit on processes or memory prevents it: ulimit -a shows them"
        ) from error
