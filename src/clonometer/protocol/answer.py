"""A driver's answer, read as it arrives (docs/protocol.md)."""

from __future__ import annotations

from clonometer.answers import Block, Done
from clonometer.errors import ProtocolError
from clonometer.protocol.block import Head, parse_block, parse_done, parse_head
from clonometer.protocol.frames import (
    COLS_LIMIT_BYTES,
    JSON_LIMIT_BYTES,
    Frame,
    FrameReader,
    encode_preamble,
)

MAGIC = b"CLNMETER"
VERSION = 1
ANSWER_KINDS = ("HEAD", "COLS", "TAIL", "DONE")


def admit_length(kind: str, length: int) -> None:
    """Refuse a frame that claims to be absurdly long.

    Raises
    ------
    ProtocolError
        Above 4 GiB for COLS, above 16 MiB for any other kind.
    """
    limit = COLS_LIMIT_BYTES if kind == "COLS" else JSON_LIMIT_BYTES
    if length > limit:
        raise ProtocolError(f"a {kind} frame of {length:,} bytes; the limit is {limit:,}")


class BlockAssembler:
    """Joins HEAD, COLS, TAIL to blocks, in that order, until DONE; the first has index ``first_block``."""

    def __init__(self, first_block: int = 0) -> None:
        self.n_blocks = first_block
        self.done: Done | None = None
        self._head: Head | None = None
        self._cols: Frame | None = None

    @property
    def inside_block(self) -> bool:
        """Whether a block has begun and is not yet whole."""
        return self._head is not None

    def admit(self, kind: str, length: int) -> None:
        """Refuse a frame that may not come now, before its payload is awaited.

        Raises
        ------
        ProtocolError
            Unknown kind, wrong order, or a length that cannot be.
        """
        if kind not in ANSWER_KINDS:
            raise ProtocolError(f"a frame of the unknown kind {kind!r}")
        if self.done is not None:
            raise ProtocolError(f"a {kind} frame after DONE")
        awaited = ("HEAD", "DONE") if self._head is None else ("COLS",) if self._cols is None else ("TAIL",)
        if kind not in awaited:
            raise ProtocolError(f"a {kind} frame where {' or '.join(awaited)} was expected")
        admit_length(kind, length)
        if kind == "COLS" and self._head is not None and length != self._head.cols_bytes:
            raise ProtocolError(
                f"COLS of block {self._head.index} has {length:,} bytes; "
                f"{self._head.rows:,} rows take {self._head.cols_bytes:,}"
            )

    def take(self, frame: Frame) -> Block | Done | None:
        """Add a frame that was admitted; the block or the end that it completes, if any.

        Raises
        ------
        ProtocolError
            If the frame does not say what it must.
        """
        if frame.kind == "HEAD":
            self._head = parse_head(frame, self.n_blocks)
        elif frame.kind == "COLS":
            self._cols = frame
        elif frame.kind == "DONE":
            self.done = parse_done(frame, self.n_blocks)
            return self.done
        elif self._head is not None and self._cols is not None:
            block = parse_block(self._head, self._cols, frame)
            self._head = self._cols = None
            self.n_blocks += 1
            return block
        return None


class AnswerReader:
    """Reads an answer as it arrives; yields whole, verified blocks and nothing less."""

    def __init__(self, first_block: int = 0) -> None:
        self._assembler = BlockAssembler(first_block)
        self._frames = FrameReader(MAGIC, VERSION, "answer", self._assembler.admit)
        self.error: ProtocolError | None = None

    @property
    def done(self) -> Done | None:
        """The answer's end, once it has come."""
        return self._assembler.done

    def feed(self, data: bytes | bytearray | memoryview) -> list[Block]:
        """Add bytes in pieces of any size; gives the blocks that they made whole.

        Where a fault follows whole blocks in the same bytes, those blocks are returned, ``error`` is set, and the next
        `feed` or `finish` raises it: no whole block is lost to a later fault.

        Raises
        ------
        ProtocolError
            At the first fault; from then on each time.
        """
        if self.error is not None:
            raise self.error
        blocks: list[Block] = []
        self._frames.push(data)
        try:
            while (frame := self._frames.take()) is not None:
                made = self._assembler.take(frame)
                if isinstance(made, Block):
                    blocks.append(made)
            if self._assembler.done is not None and self._frames.unfinished() is not None:
                raise ProtocolError("bytes after DONE")
        except ProtocolError as error:
            self.error = error
            if not blocks:
                raise
        return blocks

    def finish(self) -> Done:
        """Say that no more bytes come.

        Gives the end that the driver stated, of whatever status.

        Raises
        ------
        ProtocolError
            If the answer broke off: the message says where.
        """
        if self.error is not None:
            raise self.error
        if self._assembler.done is not None:
            return self._assembler.done
        n_blocks = self._assembler.n_blocks
        whole = f"after {n_blocks} whole block{'' if n_blocks == 1 else 's'}"
        rest = self._frames.unfinished()
        if rest == "no byte at all":
            raise ProtocolError("the driver ended without an answer")
        if rest is not None:
            raise ProtocolError(f"the answer broke off {whole}: it ends with {rest}")
        if self._assembler.inside_block:
            raise ProtocolError(f"the answer broke off {whole}: the next block is incomplete")
        raise ProtocolError(f"the answer broke off {whole}: DONE is missing, the driver did not finish")


def preamble(version: int = VERSION) -> bytes:
    """Write the preamble of an answer."""
    return encode_preamble(MAGIC, version)
