"""The schemas of answers as JSON, which docs/schemas has."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

_FOLDER = Path(__file__).parents[1] / "docs/schemas"


@cache
def schema(name: str) -> dict[str, Any]:
    return json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))


def check(answer: Any, name: str) -> None:
    """Check an answer as it is written: no key and no type that its schema lacks, and no number that JSON lacks."""
    jsonschema.validate(json.loads(json.dumps(answer, allow_nan=False)), schema(name))
