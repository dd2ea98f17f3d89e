"""The run file (docs/runfile.md): one run, one Parquet file. Only this package touches Parquet and Arrow."""

from __future__ import annotations

from clonometer.runfile.output import check_output, check_run_output, previous_path, raw_path
from clonometer.runfile.run import Run, open_run
from clonometer.runfile.so_far import RunSoFar
from clonometer.runfile.writer import RunFileWriter, check_beforehand

__all__ = [
    "Run",
    "RunFileWriter",
    "RunSoFar",
    "check_beforehand",
    "check_output",
    "check_run_output",
    "open_run",
    "previous_path",
    "raw_path",
]
