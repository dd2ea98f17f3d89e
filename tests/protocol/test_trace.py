from __future__ import annotations

import json

import numpy as np
import pytest
from tests.fakes.answers import encode_block, encode_done
from tests.fakes.fake_trace import events_array

from clonometer.errors import ProtocolError
from clonometer.protocol.answer import preamble
from clonometer.protocol.frames import encode_frame, encode_preamble
from clonometer.protocol.trace import FRAMES, MAGIC, VERSION, parse_trace

HEAD = {
    "status": "ok",
    "reason": None,
    "how": "fast",
    "process": 7,
    "task": 1007,
    "exit_status": 0,
    "lost": 3,
    "missed": 1,
    "whole_from_ns": 4,
    "whole_to_ns": 0,
    "faults_left_out": 12,
    "counters": ["cycles"],
    "counters_refused": {"tlb_misses": "too few"},
    "event_bytes": 80,
    "kinds": ["call_enter"],
    "stamps": "tsc",
    "pairs": [[1000, 50], [3000, 1050]],
    "calls": {"56": "clone"},
}


def answer(head: dict[str, object] | None = None, **payloads: bytes) -> bytes:
    events = events_array([(5, 1007, "call_enter", (56,))]).tobytes()
    probe = preamble() + encode_block(0, "launch.fork", "warm", {"reaped_ns": [5]}) + encode_done(blocks=1)
    given = {
        "HEAD": json.dumps({**HEAD, **(head or {})}).encode(),
        "EVNT": events,
        "TEXT": b"/bin/true",
        "STCK": np.array([1, 2], np.uint64).tobytes(),
        "MAPS": b"maps",
        "ANSW": probe,
        **payloads,
    }
    return encode_preamble(MAGIC, VERSION) + b"".join(encode_frame(kind, given[kind]) for kind in FRAMES)


def test_a_whole_answer() -> None:
    trace = parse_trace(answer())
    assert trace.refused is None
    assert (trace.task, trace.lost, trace.how) == (1007, 3, "fast")
    assert (trace.whole, trace.faults_left_out) == ((4, None), 12)
    assert trace.events["values"][0][0] == 56
    assert trace.calls == {56: "clone"}
    assert trace.counters == ("cycles",)
    assert trace.counters_refused == {"tlb_misses": "too few"}
    assert trace.stacks.tolist() == [1, 2]
    assert trace.blocks[0].columns["reaped_ns"].tolist() == [5]
    assert trace.done is not None
    assert trace.done.status == "ok"


def test_moments_go_from_the_probes_clock_to_that_of_the_events() -> None:
    trace = parse_trace(answer())
    assert [trace.event_time_ns(ticks) for ticks in (1000, 2000, 3000)] == [50, 550, 1050]
    same = parse_trace(answer({"pairs": [[10, 10], [10, 10]]}))
    assert same.event_time_ns(25) == 25


def test_windows_say_when_somebody_listened() -> None:
    assert parse_trace(answer()).windows == ()
    windows = parse_trace(answer({"windows": [[1, 5, 1], [6, 9, 0]]})).windows
    assert windows == ((1, 5, True), (6, 9, False))
    for damaged in (None, 3, [[1, 2]], [[1, 2, "yes"]], [[1, 2, 1.5]]):
        with pytest.raises(ProtocolError, match="windows"):
            parse_trace(answer({"windows": damaged}))


def test_a_refusal_needs_nothing_else() -> None:
    head = json.dumps({**HEAD, "status": "refused", "reason": "not permitted"}).encode()
    trace = parse_trace(encode_preamble(MAGIC, VERSION) + encode_frame("HEAD", head))
    assert trace.refused == "not permitted"
    assert len(trace.events) == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"CLNMETER", "does not begin"),
        (answer()[:200], "ends with"),
        (answer()[:-1], "ends with"),
        (encode_preamble(MAGIC, VERSION), "no HEAD"),
        (encode_preamble(MAGIC, VERSION) + encode_frame("HEAD", json.dumps(HEAD).encode()), "broke off"),
        (encode_preamble(MAGIC, VERSION) + encode_frame("ABCD", b""), "unknown kind"),
        (answer({"event_bytes": 72}), "72 bytes"),
        (answer({"calls": {"x": "clone"}}), "'x' is not the number of a system call"),
        (answer(EVNT=b"x" * 79), "cut"),
        (answer({"pairs": [[1, 2]]}), "pairs"),
        (answer({"lost": -1}), "lost"),
    ],
)
def test_what_is_no_answer_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ProtocolError, match=words):
        parse_trace(data)
