"""Reads the run document out of a run file's metadata (docs/runfile.md)."""

from __future__ import annotations

import re
from typing import Any

from clonometer.errors import InputError, RunFileError
from clonometer.inputs import parse_json
from clonometer.run_document import RunDocument, read_document

#: Under which key of the file's metadata it stands.
METADATA_KEY = b"clonometer"
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Whether JSON may say such a character, escaped or not: the document of a long run has megabytes, and seldom one of
# these. What JSON's libraries write is ASCII, as a rule, which is seen at once.
_ESCAPED = re.compile(r"\\(?:u00[0189]|u007[fF]|u[dD]|[bfr])")
_UNESCAPED = re.compile(r"[\x7f-\x9f]")


def parse_document(text: bytes) -> RunDocument:
    """Read the JSON object under the key ``clonometer``.

    Control characters and halves of surrogate pairs in its texts become question marks: what a file quotes (the words
    of a command line, what a driver wrote) must be printable, and cannot steer a terminal.

    Raises
    ------
    RunFileError
        If it is no JSON object, of a newer schema, or not of the shape that docs/runfile.md rules.
    """
    try:
        value = parse_json(text, allow_halves=True)
    except InputError as error:
        raise RunFileError(f"the run's metadata cannot be read: {error.message}") from error
    decoded = text.decode()
    is_plain = text.isascii() and b"\x7f" not in text
    if _ESCAPED.search(decoded) or not (is_plain or _UNESCAPED.search(decoded) is None):
        value = _printable(value)
    return read_document(value)


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNPRINTABLE.sub("?", value)
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list) else value
