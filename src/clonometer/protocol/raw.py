"""NAME.raw: what has been measured so far, kept while a run goes on (docs/runfile.md).

Writer and reader stand here and not in runfile, because the file is made of the protocol's own frames:
blocks are copied into it as the driver sent them, and read back by the same code that read the driver.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from clonometer.answers import Block, Done
from clonometer.errors import InputError, NoRoomError, OutputError, ProtocolError, RunFileError
from clonometer.files import cannot_write, how_to_make_room, is_no_room, reserve, why_not_written
from clonometer.inputs import cannot_read, open_input
from clonometer.protocol.answer import ANSWER_KINDS, AnswerReader, BlockAssembler, admit_length, preamble
from clonometer.protocol.block import read_json
from clonometer.protocol.frames import FrameReader, encode_frame, encode_preamble

RAW_MAGIC = b"CLNMTRAW"
RAW_VERSION = 1
_CHUNK_BYTES = 1 << 20

ReloadBlock = Callable[[], Block]


class RawWriter:
    """Appends a run to NAME.raw while it is measured; each call has reached the kernel when it returns.

    The file is locked until `close`: no other run takes its name, and nobody recovers it meanwhile. Nothing is synced
    to the disk: the file is there for a killed run, not for a lost machine, and a sync between two measured processes
    would disturb the second.

    ``metadata`` is the run's as known at the start (docs/runfile.md). A file that exists is replaced with ``force``, or
    gets the name ``aside`` instead; ``kept`` says what it is called now, None where there was none.

    Raises
    ------
    OutputError
        From every method: when the file cannot be written, saying what was saved; and if another run writes it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        metadata: Mapping[str, Any],
        *,
        force: bool = False,
        aside: Path | None = None,
    ) -> None:
        self.path = Path(path)
        self.kept = aside if aside is not None and self.path.exists() else None
        self.n_processes = 0
        self.n_blocks = 0
        self._offset = 0
        self._torn = False
        try:
            self._descriptor: int | None = reserve(self.path, replace=force, aside=aside)
        except FileExistsError as error:
            raise OutputError(
                f"{self.path} exists: an unfinished run", f"clonometer recover {self.path} finishes it"
            ) from error
        except OSError as error:
            raise cannot_write(str(self.path), error) from error
        try:
            self._write(encode_preamble(RAW_MAGIC, RAW_VERSION) + _json_frame("RUNM", metadata))
        except OSError as error:
            # What holds not even the metadata helps nobody, and would be taken for an unfinished run.
            self.remove()
            raise cannot_write(str(self.path), error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_process(self, entry: Mapping[str, Any]) -> None:
        """Write PROC: the entry of ``processes`` as known when the driver starts."""
        self._append(_json_frame("PROC", entry))

    def add_block(self, block: Block) -> ReloadBlock:
        """Append a block as the driver sent it.

        What is given back reads the block again from the file, so that a long run need not hold its samples in memory
        (hand it to `clonometer.runfile.RunFileWriter.add_block`).
        """
        offset = self._offset
        self._append(block.raw)
        self.n_blocks += 1
        return partial(self._reload, offset, len(block.raw), block.index)

    def add_done(self, done: Done) -> None:
        """Append DONE as the driver sent it."""
        self._append(done.raw)

    def end_process(self, entry: Mapping[str, Any]) -> None:
        """Write EXIT: the entry of ``processes`` as known when the driver has ended."""
        self._append(_json_frame("EXIT", entry))
        self.n_processes += 1

    def end(self, ending: Mapping[str, Any]) -> None:
        """Write ENDR: ``status``, ``status_reason``, ``ended``, ``cells``; a killed run has none."""
        self._append(_json_frame("ENDR", ending))

    def close(self) -> None:
        """Close the file; it stays where it is."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def remove(self) -> None:
        """Remove the file and close it: the run file has taken its place."""
        # While it is locked: afterwards the name may be another run's.
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.close()

    def _append(self, data: bytes) -> None:
        if self._descriptor is None or self._torn:
            raise OutputError(f"{self.path} is closed")
        try:
            self._write(data)
        except OSError as error:
            # What came after a torn frame could not be read: nothing more is written. What was is still to be read.
            self._torn = True
            raise self._failure(error) from error

    def _write(self, data: bytes) -> None:
        assert self._descriptor is not None
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        self._offset += len(data)

    def _reload(self, offset: int, length: int, index: int) -> Block:
        # By the open file: whatever becomes of its name, the samples are there.
        if self._descriptor is None:
            return reload_block(self.path, offset, length, index)
        try:
            data = os.pread(self._descriptor, length, offset)
        except OSError as error:
            raise RunFileError(f"cannot read {self.path}: {error.strerror}") from error
        return _one_block(data, self.path, offset, index)

    def _failure(self, error: OSError) -> OutputError:
        saved = f"{self.n_blocks} blocks of {self.n_processes} finished processes are saved"
        message = f"cannot write {self.path}: {why_not_written(error)}; {saved}"
        hint = f"clonometer recover {self.path}"
        if is_no_room(error):
            return NoRoomError(message, f"{how_to_make_room(error)}; then: {hint}")
        return OutputError(message, hint)


def _json_frame(kind: str, value: Mapping[str, Any]) -> bytes:
    return encode_frame(kind, json.dumps(value).encode())


def reload_block(path: Path, offset: int, length: int, index: int) -> Block:
    """Read one block again from NAME.raw.

    Raises
    ------
    RunFileError
        If the file cannot be read or the block is no longer there whole.
    """
    try:
        with open_input(path) as file:
            file.seek(offset)
            data = file.read(length)
    except (InputError, OSError) as error:
        raise _unreadable(path, error) from error
    return _one_block(data, path, offset, index)


def _unreadable(path: Path, error: InputError | OSError) -> RunFileError:
    if isinstance(error, InputError):
        return RunFileError(error.message, error.hint)
    return RunFileError(*cannot_read(path, error))


def _one_block(data: bytes, path: Path, offset: int, index: int) -> Block:
    reader = AnswerReader(first_block=index)
    try:
        blocks = reader.feed(preamble() + data)
    except ProtocolError as error:
        raise RunFileError(f"{path} has changed: {error.message}") from error
    if len(blocks) != 1:
        raise RunFileError(f"{path} has changed: no whole block at byte {offset:,}")
    return blocks[0]


@dataclass(frozen=True)
class RawProcess:
    """One start of a driver, as far as NAME.raw knows it.

    Attributes
    ----------
    entry
        The entry of ``processes``: as known at its end where ``ended``, else at its start.
    ended
        Whether EXIT is there.
    blocks
        Its whole blocks, in order.
    reload
        For each block, what reads it again from the file.
    done
        The driver's DONE, if it came.
    """

    entry: Mapping[str, Any]
    ended: bool
    blocks: tuple[Block, ...]
    reload: tuple[ReloadBlock, ...]
    done: Done | None


@dataclass(frozen=True)
class _RawFrame:
    """A JSON frame (``value``) or one of the answer's (``made``, with the offset at which a block began)."""

    kind: str
    offset: int
    value: Mapping[str, Any] = field(default_factory=dict)
    made: Block | Done | None = None


class RawRun:
    """A NAME.raw, of a run that was killed at any moment: `metadata` at once, then `processes` one at a time.

    A fault or a torn end stops it, and what came before stands.

    ``metadata`` is RUNM. Once `processes` is exhausted ``ending`` is ENDR, None for a run that was killed, and
    ``fault`` says where and why the file could not be read further, or is None.

    Raises
    ------
    RunFileError
        If the file cannot be read, is no NAME.raw, is newer, or ends before its metadata does.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self.ending: Mapping[str, Any] | None = None
        self.fault: str | None = None
        self._assembler: BlockAssembler | None = None
        self._frames = FrameReader(RAW_MAGIC, RAW_VERSION, "file", self._admit)
        self._read_bytes = 0
        self._stopped = False
        self._block_offset = 0
        self._has_metadata = False
        frame = self._next_frame()
        if frame is None:
            why = self.fault or "it ends before the run's metadata does"
            raise RunFileError(f"{path} holds no run: {why}")
        self.metadata: Mapping[str, Any] = frame.value

    def processes(self) -> Iterator[RawProcess]:
        """Yield the processes in realised order, once: whole blocks only, whatever the file ends with.

        Each comes once its EXIT has come or the file has ended.
        """
        while (frame := self._next_frame()) is not None:
            if frame.kind == "PROC":
                yield self._process(frame.value)
            elif frame.kind == "ENDR":
                self.ending = frame.value

    def _next_chunk(self) -> bytes:
        # Opened for each chunk: a walk that is given up leaves no file open.
        try:
            with open_input(self._path) as file:
                file.seek(self._read_bytes)
                chunk = file.read(_CHUNK_BYTES)
        except (InputError, OSError) as error:
            raise _unreadable(self._path, error) from error
        self._read_bytes += len(chunk)
        return chunk

    def _admit(self, kind: str, length: int) -> None:
        """Refuse a frame that cannot come here: metadata, then processes with their answers, then the ending."""
        if kind in ANSWER_KINDS and self._assembler is not None:
            self._assembler.admit(kind, length)
            return
        inside = self._assembler is not None
        awaited = "PROC" if not inside else "EXIT"
        torn = self._assembler is not None and self._assembler.inside_block
        allowed = {"RUNM": not self._has_metadata, "ENDR": self._has_metadata and not inside}
        allowed[awaited] = self._has_metadata and not torn
        if self.ending is not None or not allowed.get(kind, False):
            raise ProtocolError(f"a misplaced {kind} frame")
        admit_length(kind, length)

    def _next_frame(self) -> _RawFrame | None:
        """The next JSON frame, block or DONE; None at the end, with ``fault`` if that is not a proper one."""
        try:
            while not self._stopped:
                frame = self._frames.take()
                if frame is None:
                    chunk = self._next_chunk()
                    if not chunk:
                        rest = self._frames.unfinished()
                        self.fault = rest and f"it ends with {rest}"
                        self._stopped = True
                    self._frames.push(chunk)
                elif frame.kind not in ANSWER_KINDS or self._assembler is None:
                    self._has_metadata = True
                    return _RawFrame(frame.kind, frame.offset, value=read_json(frame).content)
                else:
                    if frame.kind == "HEAD":
                        self._block_offset = frame.offset
                    made = self._assembler.take(frame)
                    if made is not None:
                        return _RawFrame(frame.kind, self._block_offset, made=made)
        except ProtocolError as error:
            self.fault = error.message
            self._stopped = True
        return None

    def _process(self, entry: Mapping[str, Any]) -> RawProcess:
        """Read one process to its EXIT; without one the file ended first."""
        self._assembler = BlockAssembler()
        blocks: list[Block] = []
        reload: list[ReloadBlock] = []
        done: Done | None = None
        ended = False
        while (frame := self._next_frame()) is not None:
            if isinstance(frame.made, Block):
                block = frame.made
                blocks.append(block)
                reload.append(partial(reload_block, self._path, frame.offset, len(block.raw), block.index))
            elif isinstance(frame.made, Done):
                done = frame.made
            else:
                entry, ended = frame.value, True
                break
        self._assembler = None
        return RawProcess(entry, ended, tuple(blocks), tuple(reload), done)
