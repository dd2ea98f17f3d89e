"""The JSON Schema of records: what `clonometer.records` reads and writes, described for readers of JSON."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tools.json_rules import OF_KEYS, OF_RECORDS

from clonometer.records.kinds import (
    Anything,
    Codec,
    Constant,
    Either,
    Enumerated,
    Fixed,
    List,
    Mapped,
    Nullable,
    Number,
    Open,
    Text,
    Truth,
)
from clonometer.records.layout import RecordField, RecordKind, kind_of
from clonometer.records.marks import Mark

Schema = dict[str, Any]


def schema_of(roots: Mapping[str, type], **head: Any) -> Schema:
    """Describe records as a JSON Schema of 2020-12.

    Returns
    -------
    dict
        With every record inside a root under ``$defs``, and each root too where there are several.
    """
    definitions: Schema = dict.fromkeys(roots)
    for name, record in roots.items():
        definitions[name] = _whole(kind_of(record), definitions)
    if len(roots) == 1:
        [root] = (definitions.pop(name) for name in roots)
        document = {**head, **{key: value for key, value in root.items() if key not in head}}
    else:
        document = {**head, "oneOf": [{"$ref": f"#/$defs/{name}"} for name in roots]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **document, "$defs": definitions}


def _schema(codec: Codec, definitions: Schema) -> Schema:
    """Describe a kind of values; records go to ``definitions``, where those that are being made are empty."""
    match codec:
        case Text() | Enumerated() | Number() | Truth() | Constant() | Anything():
            return _plain(codec)
        case Either():
            return _any_of([_schema(kind, definitions) for _, kind in codec.kinds])
        case Nullable():
            return _any_of([_schema(codec.codec, definitions), {"type": "null"}])
        case RecordKind():
            name = _name(codec)
            if name not in definitions:
                definitions[name] = {}
                definitions[name] = _whole(codec, definitions)
            return {"$ref": f"#/$defs/{name}"}
    return _container(codec, definitions)


def _plain(codec: Text | Enumerated | Number | Truth | Constant | Anything) -> Schema:
    match codec:
        case Text(known=known) if known is not None and known.closed:
            schema: Schema = {"enum": list(known.texts)}
        case Text():
            texts = {"pattern": codec.pattern, "minLength": codec.least}
            schema = {"type": "string", **{name: value for name, value in texts.items() if value}}
        case Enumerated(words=words):
            schema = {"enum": [word.value for word in words]}
        case Number():
            limits = {"minimum": codec.least, "exclusiveMinimum": codec.above, "maximum": codec.most}
            known_limits = {name: value for name, value in limits.items() if value is not None}
            schema = {"type": "integer" if codec.whole else "number", **known_limits}
        case Truth():
            schema = {"type": "boolean"}
        case Constant(values=(value,)):
            schema = {"const": value}
        case Constant():
            schema = {"enum": list(codec.values)}
        case Anything():
            schema = {}
    return schema


def _container(codec: Codec, definitions: Schema) -> Schema:
    match codec:
        case List():
            least = {"minItems": codec.least} if codec.least else {}
            return {"type": "array", "items": _schema(codec.codec, definitions), **least}
        case Fixed():
            kinds = [_schema(kind, definitions) for kind in codec.codecs]
            items = {"items": kinds[0]} if all(kind == kinds[0] for kind in kinds) else {"prefixItems": kinds}
            return {"type": "array", **items, "minItems": len(kinds), "maxItems": len(kinds)}
        case Mapped():
            return {"type": "object", "additionalProperties": _schema(codec.codec, definitions)}
        case Open():
            known = {key: _schema(Nullable(kind), definitions) for key, kind in codec.known.items()}
            return {"type": "object", "properties": known, "additionalProperties": True}
    raise TypeError(f"nobody has said how to describe {codec}")


def _any_of(schemas: list[Schema]) -> Schema:
    """Join alternatives, in the shortest way that says the same."""
    first, last = schemas[0], schemas[-1]
    if last == {"type": "null"} and set(first) == {"enum"}:
        return {"enum": [*first["enum"], None]}
    named = [each for each in schemas if "type" in each]
    if len(named) == len(schemas) and all(set(each) == {"type"} for each in schemas[1:]):
        types = [each["type"] if isinstance(each["type"], list) else [each["type"]] for each in schemas]
        return {**first, "type": [name for names in types for name in names]}
    return {"anyOf": schemas}


def _whole(kind: RecordKind, definitions: Schema) -> Schema:
    """Describe a record itself, where others only refer to it."""
    rest = next((_schema(slot.codec, definitions) for slot in kind.slots if Mark.REST in slot.marks), None)
    schema = {
        "description": _description(kind.record),
        "type": "object",
        "required": _required(kind),
        "properties": _properties(kind, definitions),
        "additionalProperties": False if rest is None else rest["additionalProperties"],
        **({} if kind.only else OF_RECORDS.get(kind.record, {})),
    }
    return {key: value for key, value in schema.items() if value != ""}


def _name(kind: RecordKind) -> str:
    return kind.only.name if kind.only else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.record.__name__).lower()


def _description(record: type) -> str:
    """The first paragraph of a record's docstring, for readers of JSON."""
    first = inspect.cleandoc(record.__doc__ or "").partition("\n\n")[0].replace("\n", " ").replace("``", "")
    return _null_for_none(first)


def _null_for_none(text: str) -> str:
    return re.sub(r"\bNone\b", "null", text)


def _required(kind: RecordKind) -> list[str]:
    """The keys that must be there."""
    return [key for slot in kind.slots if slot.is_required or kind.only for key in _required_of(slot)]


def _required_of(slot: RecordField) -> Sequence[str]:
    if Mark.MERGED in slot.marks and isinstance(slot.codec, RecordKind):
        return _required(slot.codec)
    return slot.all_keys()


def _properties(kind: RecordKind, definitions: Schema) -> Schema:
    """The schema of each key of a record."""
    properties: Schema = {}
    for slot in kind.slots:
        if Mark.MERGED in slot.marks and isinstance(slot.codec, RecordKind):
            properties |= _properties(slot.codec, definitions)
        elif Mark.REST not in slot.marks:
            rules = OF_KEYS.get((kind.record, slot.key))
            schemas = _of_slot(slot, definitions) if rules is None else [dict(rules)]
            if slot.doc:
                schemas[0]["description"] = _null_for_none(slot.doc)
            properties |= dict(zip(slot.all_keys(), schemas, strict=True))
    return properties


def _of_slot(slot: RecordField, definitions: Schema) -> list[Schema]:
    """The schema of each of its keys."""
    if Mark.ENDS in slot.marks and isinstance(slot.codec, RecordKind):
        return [_schema(end.codec, definitions) for end in slot.codec.slots]
    # What is not written where it is None is never null.
    bare = slot.codec.codec if Mark.OMITTED in slot.marks and isinstance(slot.codec, Nullable) else slot.codec
    return [_schema(bare, definitions)]
