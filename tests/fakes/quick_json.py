"""`loads` and `dumps` of the standard library, without the modules that it only takes for errors: 10 ms of a start."""

from __future__ import annotations

import _json


class _Context:
    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int
    memo: dict[str, str] = {}  # noqa: RUF012 (what the C code asks for)


_scan = _json.make_scanner(_Context)
_encode = _json.make_encoder({}, None, _json.encode_basestring_ascii, None, ": ", ", ", False, False, False)


def loads(text):
    """The value of a text that begins with it."""
    return _scan(text, 0)[0]


def dumps(value):
    """A value as `json.dumps` writes it."""
    return "".join(_encode(value, 0))
