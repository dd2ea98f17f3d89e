"""What parts of a launch, and whole designs of small servers, cost here: each measured alone by a workload."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_CLONOMETER = str(Path(sys.executable).with_name("clonometer"))
_MOST_S = 240
_PAGES = ("cow.child", "cow.fresh")
_PER_REQUEST = ("inline", "fork", "thread", "spawn", "prefork", "thread_pool", "event", "event_pool")
_KEPT = ("prefork", "thread_pool", "event", "event_pool")
#: A request without work, so that what is left is the design.
_SERVERS = ("--set", "work_ns=0", "--set", "transport=tcp", "--set", "rate_hz=400", "--set", "load_ns=500000000")


def prices() -> dict[str, float]:
    """Medians in ns: of a page fault after a fork, and of a request by design and use of connections.

    The first are named ``copied page`` and ``new page``, the others like ``thread.per_request``. It takes a minute.

    Raises
    ------
    RuntimeError
        If a run fails.
    """
    kept = ("--set", "connections=kept", "--set", "clients=4", "--set", "server_workers=4")
    return {
        **pages_of(_run(*_PAGES, "--budget", "10s")),
        **designs_of(_run(*(f"serve.{name}" for name in _PER_REQUEST), *_SERVERS, "--budget", "30s"), "per_request"),
        **designs_of(_run(*(f"serve.{name}" for name in _KEPT), *_SERVERS, *kept, "--budget", "15s"), "kept"),
    }


def pages_of(results: dict[str, Any]) -> dict[str, float]:
    """What the first write to a page takes, of one that is copied and of a new one."""
    names = dict(zip(_PAGES, ("copied page", "new page"), strict=True))
    return {
        names[cell["workload"]]: cell["median_ns"] for cell in results["cells"] if cell["quantity"] == "write_each_ns"
    }


def designs_of(results: dict[str, Any], connections: str) -> dict[str, float]:
    """The CPU time of a request by design."""
    return {
        f"{cell['workload'].removeprefix('serve.')}.{connections}": cell["median_ns"]
        for cell in results["cells"]
        if cell["quantity"] == "server_cpu_each_ns" and cell["median_ns"] is not None
    }


def _run(*words: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/prices.parquet"
        _clonometer("run", *words, "--out", run)
        results: dict[str, Any] = json.loads(_clonometer("show", run, "--json"))
        return results


def _clonometer(*words: str) -> str:
    ended = subprocess.run([_CLONOMETER, *words], capture_output=True, text=True, check=False, timeout=_MOST_S)
    if ended.returncode not in (0, 4):
        raise RuntimeError(f"clonometer {words[0]}: {ended.stderr[-300:]}")
    return ended.stdout
