"""What the tracer answers: the kernel's events beside the probe's own answer (docs/tracing.md)."""

from __future__ import annotations

from typing import Any

from clonometer.answers import Trace
from clonometer.errors import ProtocolError
from clonometer.protocol.answer import AnswerReader
from clonometer.protocol.block import JsonFields, read_json
from clonometer.protocol.frames import COLS_LIMIT_BYTES, JSON_LIMIT_BYTES, FrameReader

MAGIC = b"CLNTRACE"
VERSION = 1
FRAMES = ("HEAD", "EVNT", "TEXT", "STCK", "MAPS", "ANSW")
EVENT_FIELDS = (
    ("time_ns", "<u8"),
    ("task", "<i4"),
    ("process", "<i4"),
    ("thread", "<i4"),
    ("cpu", "<u2"),
    ("kind", "<u2"),
    ("values", "<i8", (7,)),
)


def parse_trace(data: bytes) -> Trace:
    """Read a tracer's whole answer.

    Raises
    ------
    ProtocolError
        If it is cut short, or is not one.
    """
    import numpy as np

    frames = _frames(data)
    if "HEAD" not in frames:
        raise ProtocolError("the tracer's answer has no HEAD")
    fields = frames["HEAD"]
    head = fields.content
    refused = fields.text_or_none("reason") if fields.text("status") != "ok" else None
    dtype = np.dtype(list(EVENT_FIELDS))
    if fields.count("event_bytes") != dtype.itemsize:
        fields.refuse(f"an event has {fields.count('event_bytes')} bytes, not {dtype.itemsize}")
    raw = {kind: frames[kind] for kind in FRAMES[1:] if kind in frames}
    if refused is None and len(raw) != len(FRAMES) - 1:
        raise ProtocolError(f"the tracer's answer broke off after {list(raw)[-1] if raw else 'HEAD'}")
    if len(raw.get("EVNT", b"")) % dtype.itemsize:
        raise ProtocolError("the tracer's events are cut")
    refused_counters = fields.inner("counters_refused")
    reader = AnswerReader()
    blocks = tuple(reader.feed(raw["ANSW"])) if raw.get("ANSW") else ()
    return Trace(
        how=fields.text("how"),
        refused=refused,
        task=fields.count("task"),
        lost=fields.count("lost"),
        missed=fields.count("missed"),
        exit_status=fields.count("exit_status"),
        kinds=fields.texts("kinds"),
        events=np.frombuffer(raw.get("EVNT", b""), dtype),
        texts=raw.get("TEXT", b""),
        stacks=np.frombuffer(raw.get("STCK", b""), np.uint64),
        maps=raw.get("MAPS", b"").decode("utf-8", "replace"),
        calls=_calls(fields),
        pairs=_pairs(head.get("pairs"), fields),
        stamps=fields.text("stamps"),
        blocks=blocks,
        done=reader.done,
        counters=fields.texts("counters"),
        counters_refused={name: refused_counters.text(name) for name in refused_counters.content},
        windows=_windows(head.get("windows", []), fields),
        whole=(fields.count("whole_from_ns") or None, fields.count("whole_to_ns") or None),
        faults_left_out=fields.count("faults_left_out"),
        marks_refused=fields.text_or_none("marks_refused"),
    )


def _frames(data: bytes) -> dict[str, Any]:
    """The frames of an answer by kind, each read whole; JSON of HEAD, bytes of the others."""

    def admit(kind: str, length: int) -> None:
        if kind not in FRAMES:
            raise ProtocolError(f"a frame of the unknown kind {kind!r} in the tracer's answer")
        if length > (JSON_LIMIT_BYTES if kind == "HEAD" else COLS_LIMIT_BYTES):
            raise ProtocolError(f"a {kind} frame of {length:,} bytes in the tracer's answer")

    reader = FrameReader(MAGIC, VERSION, "tracer's answer", admit)
    reader.push(data)
    frames: dict[str, Any] = {}
    while (frame := reader.take()) is not None:
        frames[frame.kind] = read_json(frame) if frame.kind == "HEAD" else bytes(frame.payload)
    unfinished = reader.unfinished()
    if unfinished is not None:
        raise ProtocolError(f"the tracer's answer ends with {unfinished}")
    return frames


def _calls(fields: JsonFields) -> dict[int, str]:
    calls = fields.inner("calls")
    strange = [number for number in calls.content if not (number.isascii() and number.isdecimal() and len(number) < 10)]
    if strange:
        fields.refuse(f"calls: {strange[0]!r:.40} is not the number of a system call")
    return {int(number): calls.text(number) for number in calls.content}


def _pairs(value: object, fields: JsonFields) -> tuple[tuple[int, int], tuple[int, int]]:
    match value:
        case [[int(first_ticks), int(first_ns)], [int(last_ticks), int(last_ns)]]:
            return (first_ticks, first_ns), (last_ticks, last_ns)
    return fields.refuse(f"pairs is {value!r}")


def _windows(value: object, fields: JsonFields) -> tuple[tuple[int, int, bool], ...]:
    windows = []
    for row in value if isinstance(value, list) else [value]:
        if not (isinstance(row, list) and len(row) == 3 and all(type(number) is int for number in row)):
            fields.refuse(f"windows is {value!r}")
        windows.append((row[0], row[1], bool(row[2])))
    return tuple(windows)
