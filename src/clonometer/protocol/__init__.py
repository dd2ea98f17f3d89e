"""The driver protocol (docs/protocol.md): bytes to typed batches; and NAME.raw, made of the same frames."""

from __future__ import annotations

from clonometer.protocol.answer import AnswerReader, preamble
from clonometer.protocol.raw import RawProcess, RawRun, RawWriter

__all__ = [
    "AnswerReader",
    "RawProcess",
    "RawRun",
    "RawWriter",
    "preamble",
]
