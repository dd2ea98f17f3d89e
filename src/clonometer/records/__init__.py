"""Records that are written as JSON and read back: a dataclass declares once what is written, checked and documented.

A field's type says what may stand in JSON; what `Annotated` adds to it says the rest: a text documents it, and the
`clonometer.records.marks` name, restrict and lay it out. `computed_field` declares keys that are worked out. From that
`to_json` writes, `from_json` reads what anybody may have written, and the schemas of docs are made.

Examples
--------
>>> from dataclasses import dataclass
>>> from typing import Annotated
>>> @dataclass(frozen=True)
... class Lap:
...     '''One time around.'''
...
...     number: Annotated[int, Ge(1)]
...     lasts_ns: Annotated[float | None, Ge(0), "None where it was not finished."] = None
>>> to_json(Lap(1, 2.5))
{'number': 1, 'lasts_ns': 2.5}
>>> from_json(Lap, {"number": 0})
Traceback (most recent call last):
clonometer.errors.InputError: number is 0, less than 1
"""

from __future__ import annotations

from clonometer.records.layout import from_json, to_json
from clonometer.records.marks import (
    After,
    As,
    Check,
    Count,
    Ge,
    Gt,
    Key,
    Le,
    Mark,
    OneOf,
    Only,
    Pattern,
    Positive,
    computed_field,
    version,
)

__all__ = [
    "After",
    "As",
    "Check",
    "Count",
    "Ge",
    "Gt",
    "Key",
    "Le",
    "Mark",
    "OneOf",
    "Only",
    "Pattern",
    "Positive",
    "computed_field",
    "from_json",
    "to_json",
    "version",
]
