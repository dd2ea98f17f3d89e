"""Frames: the grammar that a driver's answer and NAME.raw share (docs/protocol.md)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from clonometer.errors import ProtocolError

PREAMBLE = struct.Struct("<8sII")
HEADER = struct.Struct("<4sIQ")

# A driver's answer may well be rubbish: nothing is awaited or allocated on the word of a length above these.
JSON_LIMIT_BYTES = 16 << 20
COLS_LIMIT_BYTES = 4 << 30

# Consumed bytes are dropped from the buffer in steps of this size, so that many small frames do not move a
# large rest again and again.
_COMPACT_BYTES = 1 << 20


def encode_preamble(magic: bytes, version: int) -> bytes:
    r"""Write a preamble.

    Examples
    --------
    >>> encode_preamble(b"CLNMETER", 1)
    b'CLNMETER\x01\x00\x00\x00\x00\x00\x00\x00'
    """
    return PREAMBLE.pack(magic, version, 0)


def encode_frame(kind: str, payload: bytes) -> bytes:
    r"""Write one frame: kind, zero, length of the payload, payload.

    Examples
    --------
    >>> encode_frame("DONE", b"{}")
    b'DONE\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00{}'
    """
    return HEADER.pack(kind.encode("ascii"), 0, len(payload)) + payload


@dataclass(frozen=True)
class Frame:
    """One whole frame; ``raw`` is header and payload as they came, ``offset`` its place in the stream."""

    kind: str
    raw: bytes
    offset: int

    @property
    def payload(self) -> memoryview:
        """The bytes after the header, without a copy."""
        return memoryview(self.raw)[HEADER.size :]


class FrameReader:
    """Cuts a stream of bytes into whole frames; holds what is not yet whole.

    ``magic`` and ``version`` are what the preamble must say; an older version is accepted, a newer one refused.
    ``what`` names the stream in messages (``"answer"``). ``admit`` is called with a frame's kind and length once its
    header is there and before its payload is awaited: it raises ProtocolError for one that may not come now or may not
    be so long.
    """

    def __init__(self, magic: bytes, version: int, what: str, admit: Callable[[str, int], None]) -> None:
        self._magic = magic
        self._version = version
        self._what = what
        self._admit = admit
        self._buffer = bytearray()
        self._start = 0
        self._dropped = 0
        self._has_preamble = False
        self._header: tuple[str, int] | None = None

    def push(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes to what is held."""
        self._buffer += data

    @property
    def offset(self) -> int:
        """Where in the stream the next frame begins: all before it has been taken."""
        return self._dropped + self._start

    def take(self) -> Frame | None:
        """Take the next whole frame, or None while it is not whole.

        Raises
        ------
        ProtocolError
            Wrong magic, a newer version, a header that is none, or whatever ``admit`` refuses.
        """
        if not self._has_preamble and not self._take_preamble():
            return None
        if self._header is None:
            if self._held() < HEADER.size:
                return None
            self._header = self._read_header()
        kind, length = self._header
        if self._held() < HEADER.size + length:
            return None
        end = self._start + HEADER.size + length
        frame = Frame(kind, bytes(memoryview(self._buffer)[self._start : end]), self.offset)
        self._header = None
        self._consume(HEADER.size + length)
        return frame

    def unfinished(self) -> str | None:
        """What the held bytes are the beginning of, in words; None if the stream ends with a whole frame."""
        held = self._held()
        if not self._has_preamble:
            return f"{held} of the {PREAMBLE.size} bytes of the preamble" if held else "no byte at all"
        if self._header is not None:
            kind, length = self._header
            return f"{held - HEADER.size:,} of the {length:,} bytes of a {kind} frame"
        return f"{held} of the {HEADER.size} bytes of a frame's header" if held else None

    def _held(self) -> int:
        return len(self._buffer) - self._start

    def _consume(self, n_bytes: int) -> None:
        self._start += n_bytes
        if self._start == len(self._buffer) or self._start >= _COMPACT_BYTES:
            del self._buffer[: self._start]
            self._dropped += self._start
            self._start = 0

    def _take_preamble(self) -> bool:
        """Read magic and version; False while they have not come whole."""
        # Rubbish is recognized by its first bytes, without waiting for sixteen.
        begin = bytes(self._buffer[: len(self._magic)])
        if not self._magic.startswith(begin):
            raise ProtocolError(f"the {self._what} does not begin with {self._magic.decode()}: {_quote(begin)}")
        if len(self._buffer) < PREAMBLE.size:
            return False
        _, version, zero = PREAMBLE.unpack_from(self._buffer)
        if version > self._version:
            raise ProtocolError(
                f"the {self._what} is in version {version}, this Clonometer reads version {self._version}",
                "update Clonometer, or rebuild the driver that wrote it",
            )
        if version == 0 or zero != 0:
            raise ProtocolError(f"the {self._what}'s preamble is damaged: version {version}, then {zero}")
        self._has_preamble = True
        self._consume(PREAMBLE.size)
        return True

    def _read_header(self) -> tuple[str, int]:
        kind_bytes, zero, length = HEADER.unpack_from(self._buffer, self._start)
        if not (kind_bytes.isascii() and kind_bytes.isalpha()) or zero != 0:
            raise ProtocolError(f"byte {self.offset:,} of the {self._what} should begin a frame: {_quote(kind_bytes)}")
        kind = kind_bytes.decode("ascii")
        self._admit(kind, length)
        return kind, length


def _quote(data: bytes) -> str:
    return f"it has {data.hex(' ')}"
