"""The JSON schemas of docs/schemas, written from the records themselves: ``python -m tools.schemas docs/schemas``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.json_schema import schema_of

from clonometer.cli.group import COMMANDS
from clonometer.cli.json_schemas import JsonSchema
from clonometer.discovery import find_plugins

_MOST_COLUMNS = 120


def json_schemas() -> Iterator[JsonSchema]:
    """Ask each command what it writes as JSON."""
    for package in (COMMANDS, f"{COMMANDS}.fleet"):
        for of_command in find_plugins(package, "json_schemas"):
            yield from of_command()


def schema_texts() -> dict[str, str]:
    """Make the text of each generated file of docs/schemas."""
    return {f"{schema.name}.schema.json": compact(_made(schema)) + "\n" for schema in json_schemas()}


def _made(schema: JsonSchema) -> dict[str, Any]:
    """A schema, whose ``$id`` ends with its number: a copy that somebody kept under that name stays right."""
    made = schema_of(schema.roots, title=schema.title, description=schema.description)
    variants = made.get("oneOf", [made])
    documents = [made["$defs"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in variants]
    numbers = sorted({document["properties"]["schema"]["const"] for document in documents})
    name = f"urn:clonometer:{schema.name}:{'-'.join(map(str, numbers))}"
    return {"$schema": made["$schema"], "$id": name, **made}


def compact(value: Any, indent: str = "", room: int = 0) -> str:
    """Write JSON with an object or a list on one line where that has room, else with a line for each entry."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + room + len(line) <= _MOST_COLUMNS or not isinstance(value, dict | list) or not value:
        return line
    deeper = f"{indent}  "
    if isinstance(value, list):
        entries = [compact(item, deeper) for item in value]
    else:
        keys = {key: f"{json.dumps(key)}: " for key in value}
        entries = [key + compact(value[name], deeper, len(key)) for name, key in keys.items()]
    first, last = "[]" if isinstance(value, list) else "{}"
    separator = f",\n{deeper}"
    return f"{first}\n{deeper}{separator.join(entries)}\n{indent}{last}"


def main() -> int:
    """Write every file into the folder that is named."""
    folder = Path(sys.argv[1])
    for name, text in schema_texts().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
