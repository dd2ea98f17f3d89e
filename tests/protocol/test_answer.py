from __future__ import annotations

import json
import os
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes import FAKE_DRIVER
from tests.fakes.answers import encode_block, encode_done

from clonometer.answers import Block
from clonometer.errors import ProtocolError
from clonometer.protocol import AnswerReader, preamble
from clonometer.protocol.frames import encode_frame
from clonometer.results.rows.source import null_mask

REAPED = np.array([52_000, -(2**63), 48_500])
ANSWER = (
    preamble()
    + encode_block(0, "launch.fork", "cold", {"reaped_ns": REAPED[:1], "errno": np.zeros(1, np.int32)})
    + encode_block(1, "launch.fork", "warm", {"reaped_ns": REAPED, "errno": np.array([0, 11, 0], np.int32)})
    + encode_block(2, "launch.fork", "warm", {"cost_ns": [1.5, float("nan")]}, facts={"wall_ns": 9})
    + encode_done(blocks=3)
)

HEAD = {
    "block": 0,
    "workload": "launch.fork",
    "temperature": "warm",
    "rows": 2,
    "columns": [{"name": "reaped_ns", "type": "i64", "unit": "ns"}],
}
COLS = struct.pack("<2q", 5, 6)
TAIL = {
    "status": "ok",
    "reason": None,
    "rows": 2,
    "crc32": zlib.crc32(COLS),
    "outcomes": {"ok": 2},
    "facts": {"wall_ns": 20},
}
DONE = {
    "status": "ok",
    "reason": None,
    "errno": None,
    "blocks": 1,
    "driver": "t",
    "version": "1",
    "linkage": "s",
}


def frame(kind: str, value: object) -> bytes:
    return encode_frame(kind, value if isinstance(value, bytes) else json.dumps(value).encode())


def answer(head: object = HEAD, cols: bytes = COLS, tail: object = TAIL, done: object = DONE) -> bytes:
    return preamble() + frame("HEAD", head) + frame("COLS", cols) + frame("TAIL", tail) + frame("DONE", done)


def read(data: bytes, piece_bytes: int = 1 << 20) -> tuple[list[Block], str]:
    """The blocks, and how the answer ended: DONE's status or the error's message."""
    reader = AnswerReader()
    blocks: list[Block] = []
    try:
        for at in range(0, len(data), piece_bytes):
            blocks += reader.feed(data[at : at + piece_bytes])
        return blocks, reader.finish().status
    except ProtocolError as error:
        return blocks, error.message


def same(left: Block, right: Block) -> bool:
    return left.raw == right.raw and all(
        np.array_equal(left.columns[name], right.columns[name], equal_nan=left.column_types[name] == "f64")
        for name in left.columns
    )


@pytest.mark.parametrize("piece_bytes", [1, 7, 64, 1 << 20])
def test_reads_blocks_whatever_the_pieces(piece_bytes: int) -> None:
    blocks, end = read(ANSWER, piece_bytes)
    assert end == "ok"
    assert [(block.index, block.temperature, block.rows) for block in blocks] == [
        (0, "cold", 1),
        (1, "warm", 3),
        (2, "warm", 2),
    ]
    assert blocks[1].columns["reaped_ns"].tolist() == REAPED.tolist()
    assert blocks[1].columns["errno"].dtype == np.int32
    assert null_mask(blocks[1].columns["reaped_ns"]).tolist() == [False, True, False]
    assert null_mask(blocks[2].columns["cost_ns"]).tolist() == [False, True]
    assert blocks[2].units == {"cost_ns": "ns"}
    assert blocks[2].facts == {"wall_ns": 9}
    assert preamble() + b"".join(block.raw for block in blocks) + encode_done(blocks=3) == ANSWER


def test_columns_cannot_be_changed() -> None:
    block = read(ANSWER)[0][0]
    with pytest.raises(ValueError, match="read-only"):
        block.columns["reaped_ns"][0] = 1


def test_truncation_anywhere_never_gives_a_shorter_block() -> None:
    whole, _ = read(ANSWER)
    ends = [16]
    for block in whole:
        ends.append(ends[-1] + len(block.raw))
    for cut in range(len(ANSWER)):
        blocks, end = read(ANSWER[:cut])
        assert len(blocks) == sum(cut >= at for at in ends[1:])
        assert all(same(*pair) for pair in zip(blocks, whole, strict=False))
        assert "broke off" in end or "without an answer" in end


def test_says_where_an_answer_broke_off() -> None:
    assert read(b"")[1] == "the driver ended without an answer"
    assert read(ANSWER[:10])[1].endswith("10 of the 16 bytes of the preamble")
    assert "after 0 whole blocks: it ends with 3 of the" in read(ANSWER[: 16 + 16 + 3])[1]
    done = len(encode_done(blocks=3))
    assert "after 3 whole blocks: DONE is missing" in read(ANSWER[:-done])[1]


def test_a_later_fault_loses_no_whole_block() -> None:
    reader = AnswerReader()
    end = len(ANSWER) - len(encode_done(blocks=3))
    blocks = reader.feed(ANSWER[:end] + b"garbage garbage garbage")
    assert len(blocks) == 3
    assert reader.error is not None
    with pytest.raises(ProtocolError, match="should begin a frame"):
        reader.feed(b"")
    with pytest.raises(ProtocolError, match="should begin a frame"):
        reader.finish()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello, world, this is no answer", "does not begin with CLNMETER"),
        (b"h", "does not begin with CLNMETER"),
        (preamble(2) + ANSWER[16:], "version 2, this Clonometer reads version 1"),
        (preamble(0) + ANSWER[16:], "preamble is damaged"),
        (preamble() + frame("WHAT", {}), "unknown kind 'WHAT'"),
        (preamble() + struct.pack("<4sIQ", b"HEAD", 1, 2), "should begin a frame"),
        (preamble() + struct.pack("<4sIQ", b"HEAD", 0, 1 << 40), "limit is 16,777,216"),
        (preamble() + frame("TAIL", TAIL), "TAIL frame where HEAD or DONE was expected"),
        (preamble() + frame("HEAD", HEAD) + frame("HEAD", HEAD), "HEAD frame where COLS was expected"),
        (preamble() + frame("HEAD", HEAD) + frame("DONE", DONE), "DONE frame where COLS was expected"),
        (
            preamble() + frame("HEAD", HEAD) + struct.pack("<4sIQ", b"COLS", 0, 1 << 60),
            "limit is 4,294,967,296",
        ),
        (answer(cols=COLS[:-1]), "COLS of block 0 has 15 bytes; 2 rows take 16"),
        (answer(cols=COLS + b"\0"), "COLS of block 0 has 17 bytes; 2 rows take 16"),
        (answer(cols=COLS[:-1] + b"\1"), "the samples are damaged"),
        (answer(tail={**TAIL, "rows": 1}), "rows is 1, HEAD said 2"),
        (answer(done={**DONE, "blocks": 2}), "blocks is 2, 1 came"),
        (answer() + frame("DONE", DONE), "DONE frame after DONE"),
        (answer() + b"x", "bytes after DONE"),
        (answer(head=b"{"), "HEAD: it is not JSON"),
        (answer(head=b"\xff"), "HEAD: it is not UTF-8"),
        (answer(head=b"[" * 100_000), "HEAD: it is nested too deeply"),
        (answer(head=b"[]"), "not an object"),
        (answer(tail=b'{"status": NaN}'), "NaN is not a valid JSON number"),
        (answer(head={**HEAD, "workload": "\ud800"}), "HEAD: it is not JSON: a text has half"),
        (answer(head={**HEAD, "workload": ""}), "workload is empty"),
        (answer(head={**HEAD, "workload": 3}), "workload is 3, not a text"),
        (answer(head={**HEAD, "block": 1}), "block is 1, 0 was expected"),
        (answer(head={**HEAD, "block": True}), "block is True, not a count"),
        (answer(head={**HEAD, "rows": -1}), "rows is -1, not a count"),
        (answer(head={**HEAD, "rows": 1 << 40}), "the limit is 4,294,967,296"),
        (answer(head={**HEAD, "rows": 1 << 70}), "rows is a whole number beyond 64 bits"),
        (answer(head={**HEAD, "columns": []}), "2 rows without a column"),
        (answer(head={**HEAD, "columns": {}}), "not a list"),
        (answer(head={**HEAD, "columns": ["a"]}), "a column is not an object"),
        (answer(head={**HEAD, "columns": HEAD["columns"] * 2}), "declared twice"),  # type: ignore[operator]
        (
            answer(head={**HEAD, "columns": [{"name": "cell", "type": "i64", "unit": "ns"}]}),
            "cannot be the name",
        ),
        (
            answer(head={**HEAD, "columns": [{"name": "A b", "type": "i64", "unit": "ns"}]}),
            "cannot be the name",
        ),
        (answer(head={**HEAD, "columns": [{"name": "a", "type": "u8", "unit": "ns"}]}), "unknown type 'u8'"),
        (answer(head={**HEAD, "columns": [{"name": "a", "type": [], "unit": "ns"}]}), "unknown type"),
        (answer(head={**HEAD, "columns": [{"name": "a", "type": "i64", "unit": "s"}]}), "unknown unit 's'"),
        (answer(head={**HEAD, "temperature": "tepid"}), "neither cold nor warm"),
        (answer(tail={**TAIL, "status": "fine"}), "not one of ok, skipped, failed"),
        (answer(tail={**TAIL, "status": "failed"}), "failed without a reason"),
        (answer(tail={**TAIL, "outcomes": {"ok": "2"}}), "outcomes: ok is '2', not a count"),
        (answer(tail={**TAIL, "facts": None}), "facts is None, not an object"),
        (answer(done={**DONE, "errno": "x"}), "errno is 'x'"),
        (answer(done={"status": "skipped", "blocks": 1}), "skipped without a reason"),
    ],
)
def test_refuses_what_breaks_the_protocol(data: bytes, message: str) -> None:
    assert message in read(data)[1]


def test_refuses_a_long_frame_before_it_is_sent() -> None:
    reader = AnswerReader()
    reader.feed(preamble() + frame("HEAD", HEAD))
    with pytest.raises(ProtocolError, match="rows take 16"):
        reader.feed(struct.pack("<4sIQ", b"COLS", 0, 1 << 30))


def test_allocates_nothing_on_the_word_of_a_length() -> None:
    reader = AnswerReader()
    head = {**HEAD, "rows": 1 << 29}
    tracemalloc.start()
    try:
        assert reader.feed(preamble() + frame("HEAD", head) + struct.pack("<4sIQ", b"COLS", 0, 1 << 32)) == []
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    with pytest.raises(ProtocolError, match="0 of the 4,294,967,296 bytes of a COLS frame"):
        reader.finish()


def test_accepts_statuses_with_a_reason() -> None:
    blocks, end = read(
        answer(
            tail={**TAIL, "status": "failed", "reason": "swapped"},
            done={**DONE, "status": "skipped", "reason": "needs 2, has 1", "errno": 12},
        )
    )
    assert (blocks[0].status, blocks[0].reason, end) == ("failed", "swapped", "skipped")


def test_accepts_a_block_without_samples() -> None:
    data = preamble() + encode_block(0, "launch.fork", "warm", {}) + encode_done(blocks=1)
    blocks, end = read(data)
    assert (blocks[0].rows, dict(blocks[0].columns), end) == (0, {}, "ok")


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 1e300, -9.3e18])
def test_refuses_samples_that_cannot_be_added_up(value: float) -> None:
    block = encode_block(0, "clock.used", None, {"cost_ns": np.array([21.0, value])}, units={"cost_ns": "ns"})
    assert f"COLS of block 0 has {value:g} in the column 'cost_ns'" in read(preamble() + block)[1]


numbers = {
    "i32": st.integers(-(2**31), 2**31 - 1),
    "i64": st.integers(-(2**63), 2**63 - 1),
    "f64": st.floats(-(2.0**63), 2.0**63) | st.just(float("nan")),
}
dtypes = {"i32": np.int32, "i64": np.int64, "f64": np.float64}


@st.composite
def blocks_of_columns(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    made = []
    for _ in range(draw(st.integers(0, 3))):
        rows = draw(st.integers(0, 7))
        kinds = draw(
            st.dictionaries(
                st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True),
                st.sampled_from(sorted(numbers)),
                max_size=4,
            )
        )
        made.append(
            {
                name: np.array(draw(st.lists(numbers[kind], min_size=rows, max_size=rows)), dtypes[kind])
                for name, kind in kinds.items()
                if name not in ("cell", "process", "block", "sample")
            }
        )
    return made


@settings(max_examples=60, deadline=None)
@given(blocks_of_columns(), st.integers(1, 300))
def test_what_is_written_is_read(columns: list[dict[str, Any]], piece_bytes: int) -> None:
    data = preamble()
    for index, block in enumerate(columns):
        data += encode_block(index, "ipc.any", None, block, units=dict.fromkeys(block, "bytes"))
    blocks, end = read(data + encode_done(blocks=len(columns)), piece_bytes)
    assert end == "ok"
    assert len(blocks) == len(columns)
    for block, wanted in zip(blocks, columns, strict=True):
        assert list(block.columns) == list(wanted)
        for name, values in wanted.items():
            assert block.columns[name].dtype == values.dtype
            assert block.columns[name].tobytes() == values.tobytes()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_gives_protocol_errors_only(data: st.DataObject) -> None:
    damaged = bytearray(ANSWER)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=6))
    whole, _ = read(ANSWER)
    # Any exception but ProtocolError fails the test in read.
    blocks, _ = read(bytes(damaged))
    for block in blocks:
        # What passes the checksum has the samples that were sent.
        assert any(
            block.rows == sent.rows
            and [v.tobytes() for v in block.columns.values()] == [v.tobytes() for v in sent.columns.values()]
            for sent in whole
        )


MODES = {
    "ok": (3, "ok"),
    "truncate": (2, "the answer broke off after 2 whole blocks"),
    "half_block": (2, "the next block is incomplete"),
    "no_done": (3, "DONE is missing"),
    "wrong_version": (0, "in version 99"),
    "rubbish": (0, "does not begin with CLNMETER"),
    "bad_crc": (0, "the samples are damaged"),
    "failed": (1, "failed"),
    "failed_block": (3, "ok"),
    "skipped": (0, "skipped"),
    "failed_launches": (3, "ok"),
    "die": (1, "the answer broke off after 1 whole block:"),
}


@pytest.mark.parametrize("mode", MODES)
def test_reads_the_fake_driver_as_it_misbehaves(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DRIVER_MODE", mode)
    data, _ = run_fake("workload=launch.fork", "temperatures=cold,warm", "samples=8", "blocks=2")
    blocks, end = read(data)
    n_blocks, message = MODES[mode]
    assert len(blocks) == n_blocks
    assert message in end
    if mode == "failed_launches":
        assert blocks[1].outcomes == {"ok": 6, "EAGAIN": 2}
        assert null_mask(blocks[1].columns["reaped_ns"]).tolist() == [False, False, False, True] * 2
    if mode == "failed_block":
        assert blocks[-1].status == "failed"


def test_the_mode_may_hold_for_one_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DRIVER_MODE", "rubbish")
    monkeypatch.setenv("FAKE_DRIVER_ONLY", "launch.pthread")
    assert read(run_fake("workload=launch.fork")[0])[1] == "ok"
    assert "does not begin" in read(run_fake("workload=launch.pthread")[0])[1]


def test_the_fake_driver_answers_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAKE_DRIVER_MODE", raising=False)
    for words in (
        ["workload=launch.what"],
        ["workload=launch.fork", "colour=red"],
        ["workload=launch.fork", "pages=x"],
    ):
        data, status = run_fake(*words)
        assert read(data)[1] == "failed"
        assert status == 1


def run_fake(*words: str) -> tuple[bytes, int]:
    """What the fake driver answers, and its exit status."""
    receiving, sending = os.pipe()
    os.set_inheritable(sending, True)
    argv = [sys.executable, str(FAKE_DRIVER), "--fd", str(sending), *words]
    child = os.posix_spawn(sys.executable, argv, os.environ)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        data = pipe.read()
    return data, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
