"""The answer: a preamble, then frames of blocks (docs/protocol.md)."""

import errno
import json
import struct
import sys
import zlib

VERSION = "1"
NULL = {"i": -(1 << 31), "q": -(1 << 63)}
_TYPES = {"i": "i32", "q": "i64"}


def encode(name, request, blocks, status, reason):
    parts = [b"CLNMETER", struct.pack("<II", 1, 0)]
    for index, block in enumerate(blocks):
        parts += _block(request.workload, index, block)
    ending = {"status": status, "reason": reason, "errno": None, "blocks": len(blocks)}
    parts.append(_frame(b"DONE", _json({**ending, "driver": name, "version": VERSION, "linkage": None})))
    return b"".join(parts)


def _block(workload, index, block):
    columns = [
        {"name": name, "type": _TYPES[values.typecode], "unit": unit_of(name)} for name, values in block.columns.items()
    ]
    rows = block.rows
    head = {"block": index, "workload": workload.id, "temperature": block.temperature, "rows": rows, "columns": columns}
    payload = b"".join(_little(values).tobytes() for values in block.columns.values())
    outcomes = {"ok": 0}
    for number in block.columns["errno"]:
        key = "ok" if number == 0 else errno.errorcode.get(number, "errno %d" % number)
        outcomes[key] = outcomes.get(key, 0) + 1
    tail = {"status": "ok", "reason": None, "rows": rows, "crc32": zlib.crc32(payload), "outcomes": outcomes}
    return [
        _frame(b"HEAD", _json(head)),
        _frame(b"COLS", payload),
        _frame(b"TAIL", _json({**tail, "facts": block.facts})),
    ]


def unit_of(column):
    if column.endswith("_ns"):
        return "ns"
    return "cpu" if column.startswith("cpu_") else "errno"


def _little(values):
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _json(content):
    return json.dumps(content).encode()


def _frame(kind, payload):
    return kind + struct.pack("<IQ", 0, len(payload)) + payload
