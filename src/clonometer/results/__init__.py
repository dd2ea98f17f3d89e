"""Results: cells by name, comparisons, findings, arrays ready to plot, and the scheduler.

Everything heavy loads when it is first asked for, because views import ``results.types`` from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clonometer.results.as_json import results_to_json
    from clonometer.results.summary import summarize

__all__ = ["results_to_json", "summarize"]


def __getattr__(name: str) -> Any:
    if name == "summarize":
        from clonometer.results.summary import summarize

        return summarize
    if name == "results_to_json":
        from clonometer.results.as_json import results_to_json

        return results_to_json
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
