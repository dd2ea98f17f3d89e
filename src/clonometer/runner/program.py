"""Programs of ours that are no drivers: started once, what they print is kept, nothing is left of them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from clonometer.errors import DriverError
from clonometer.runner.drivers import built_program
from clonometer.runner.process import answer_of

_TIMEOUT_S = 30.0


def run_program(name: str, *, environ: Mapping[str, str] | None = None) -> str:
    """Start a program that was built with the drivers, wait for its end, and give what it printed.

    Raises
    ------
    DriverError
        If it is not there, ends with another status than 0, or is stopped.
    """
    path = built_program(name, os.environ if environ is None else environ)
    output, ending = answer_of([str(path)], timeout_s=_TIMEOUT_S)
    if ending.exit_status != 0:
        raise DriverError(f"{name} {ending.describe()}" + (f": {ending.last_words}" if ending.last_words else ""))
    return output.decode("utf-8", "replace")
