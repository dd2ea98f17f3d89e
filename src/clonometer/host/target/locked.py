"""How long reading keeps a process's memory lock: the kernel takes it for each read of what shows areas or pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from clonometer.host.source import FactUnavailable, Source
from clonometer.records import Count

_PIECE_BYTES = 1 << 16


@dataclass
class LockTime:
    """Time within the reads that take the process's memory lock: no less than it was held.

    ``longest_ns`` is of one read, ``total_ns`` of all. Between two reads the process may take it.
    """

    longest_ns: Count = 0
    total_ns: Count = 0
    reads: Count = 0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count what runs inside as one read."""
        began = time.perf_counter_ns()
        yield
        elapsed_ns = time.perf_counter_ns() - began
        self.longest_ns = max(self.longest_ns, elapsed_ns)
        self.total_ns += elapsed_ns
        self.reads += 1


def read_timed(source: Source, path: str, lock: LockTime) -> bytes:
    """Read all of a file such as smaps, of any length, each read timed.

    Raises
    ------
    Lack
        If it cannot be read, with the reason; so too where the process ends meanwhile.
    """
    pieces: list[bytes] = []
    try:
        with source.path(path).open("rb", buffering=0) as file:
            while True:
                with lock.timed():
                    piece = file.read(_PIECE_BYTES)
                if not piece:
                    return b"".join(pieces)
                pieces.append(piece)
    except OSError as error:
        raise FactUnavailable(f"{path}: {error.strerror or error}") from None
