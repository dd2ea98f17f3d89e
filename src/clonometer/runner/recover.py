"""Finishes a killed run: from NAME.raw to a valid run file (docs/runfile.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from clonometer.answers import Block
from clonometer.errors import ProtocolError, RunFileError
from clonometer.files import reading_unreserved
from clonometer.protocol import RawProcess, RawRun
from clonometer.records import to_json
from clonometer.run_document import CellEntry
from clonometer.runfile import RunFileWriter, check_run_output

KILLED = "the run was killed"


@dataclass(frozen=True)
class RecoverSummary:
    """What was found in NAME.raw and stands in the run file now.

    ``n_processes`` counts the starts of drivers that left at least their beginning; ``fault`` says where the raw file
    could not be read further, None where it ended between two entries; ``kept`` what a former run file is called now.
    """

    n_processes: int
    n_blocks: int
    n_samples: int
    path: Path
    status: str
    fault: str | None
    kept: Path | None


def recover(
    raw_path: str | os.PathLike[str], out_path: str | os.PathLike[str], force: bool = False, *, keep: bool = False
) -> RecoverSummary:
    """Write the run file of a run that was killed. NAME.raw stays where it is.

    It may be cut off anywhere behind its metadata. An existing run file is replaced with ``force``; with ``keep`` it
    gets the name ``NAME.previous.SUFFIX``.

    Raises
    ------
    RunFileError
        If NAME.raw holds no run.
    InputError
        If it cannot be read, or its run still measures.
    OutputError
        If the run file cannot be written.
    """
    with reading_unreserved(Path(raw_path)):
        out = check_run_output(out_path, force=force, keep=keep)
        run = RawRun(raw_path)
        recovery = _Recovery(run.metadata)
        writer = RunFileWriter(out, force=force, keep=keep)
        for process in run.processes():
            recovery.add(process, writer)
        metadata = recovery.metadata(run.ending, run.fault)
        writer.write(metadata)
    return RecoverSummary(
        n_processes=len(recovery.entries),
        n_blocks=writer.n_blocks,
        n_samples=writer.n_samples,
        path=out,
        status=metadata["status"],
        fault=run.fault,
        kept=writer.kept,
    )


class _Recovery:
    """Collects what the run would have said of itself at its end."""

    def __init__(self, begun: Mapping[str, Any]) -> None:
        self._begun = begun
        self.entries: list[Mapping[str, Any]] = []
        self._seen: dict[str, set[str]] = {}
        self._reasons: dict[str, str] = {}
        try:
            self._planned = {entry["cell"]: entry for entry in begun["plan"]["cells"]}
            self._started = datetime.fromisoformat(begun["started"])
        except (KeyError, TypeError, ValueError) as error:
            raise RunFileError(f"the raw file's metadata is damaged: {error!r}") from error

    def add(self, process: RawProcess, writer: RunFileWriter) -> None:
        """Take over one process with its blocks."""
        entry = dict(process.entry)
        if not process.ended:
            entry.update(status="failed", reason=f"{KILLED} while this process measured", exit_status=None)
            entry.setdefault("ended_ns", None)
            entry.setdefault("stderr", "")
        cells = entry.get("cells")
        if not isinstance(cells, list) or not isinstance(entry.get("process"), int):
            raise RunFileError("a process in the raw file does not say which cells it measured")
        self.entries.append(entry)
        for cell in cells:
            self._note(cell, str(entry.get("status")), entry.get("reason"))
        for block, load in zip(process.blocks, process.reload, strict=True):
            cell = self._cell_of(block, cells)
            if cell is None:
                # A driver that measured what it was not asked for: the runner has marked the process failed.
                continue
            try:
                writer.add_block(cell, entry["process"], block, load)
            except ProtocolError as error:
                self._note(cell, "failed", error.message)
            else:
                self._note(cell, f"block {block.status}", block.reason)

    def _cell_of(self, block: Block, cells: Iterable[str]) -> str | None:
        measured = (block.workload, block.temperature)
        for cell in cells:
            planned = self._planned.get(cell)
            if planned and (planned["workload"], planned["temperature"]) == measured:
                return cell
        return None

    def _note(self, cell: str, status: str, reason: str | None) -> None:
        self._seen.setdefault(cell, set()).add(status)
        if reason:
            self._reasons.setdefault(cell, reason)

    def metadata(self, ending: Mapping[str, Any] | None, fault: str | None) -> dict[str, Any]:
        """The run's metadata: its own ending where it was written, else ``partial``."""
        if ending is None:
            reason = f"{KILLED}; recovered from its raw file"
            ending = {
                "status": "partial",
                "status_reason": f"{reason}, where {fault}" if fault else reason,
                "ended": self._ended(),
                "cells": [to_json(self._cell_entry(cell)) for cell in self._planned],
            }
        return {**self._begun, **ending, "processes": self.entries}

    def _ended(self) -> str:
        """When the last process that is known of was seen last."""
        times = [entry.get("ended_ns") or entry.get("started_ns") or 0 for entry in self.entries]
        return (self._started + timedelta(microseconds=max(times, default=0) / 1000)).isoformat()

    def _cell_entry(self, cell: str) -> CellEntry:
        """How a cell of a killed run ended, by what the raw file has of it: one sound block is enough."""
        seen = self._seen.get(cell, set())
        reason = self._reasons.get(cell)
        if "block ok" in seen:
            status, reason = "ok", None
        elif "skipped" in seen or "block skipped" in seen:
            status = "skipped"
        elif seen:
            status, reason = "failed", reason or "no block was measured"
        else:
            status, reason = "missing", f"{KILLED} before it was measured"
        return CellEntry(cell, status, reason, KILLED)
