"""Mutations: run files, .raw files, metadata, explanations and plans, damaged and hostile, read by every command."""

from __future__ import annotations

import copy
import json
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tools.torture.sandbox import COMMAND, HELPERS, Ended, Sandbox, judge
from tools.torture.trials import READS, Trial

from clonometer.runfile.document import METADATA_KEY

KIND = "mutations"
HOSTILE: tuple[Any, ...] = (
    None, -1, 0, 1, 2**31, 2**63, -(2**63), 10**30, 1e308, -0.0, float("inf"), float("nan"), "", "0", "x" * 5000,
    "\x1b[2J\x1b]0;title\x07", "\u202eevil", "<script>alert(1)</script>", "\ud800", "../../etc/passwd", True, [], {},
    [[]], {"": None}, [1, "a", None], {"a": {"b": {"c": []}}},
)  # fmt: skip
READERS = (
    ("show", "FILE"), ("show", "FILE", "--workers"), ("show", "FILE", "--json"), ("show", "FILE", "--wide"),
    ("show", "FILE", "--workers", "--json"), ("report", "FILE", "--out", "r.html"), ("compare", "FILE", "BASE"),
    ("compare", "BASE", "FILE", "--json"), ("export", "FILE", "--format", "csv", "--samples", "--out", "s.csv"),
    ("export", "FILE", "--format", "markdown"), ("check", "FILE", "--baseline", "BASE"),
    ("plot", "FILE", "--kind", "overview", "--out", "p.svg"),
)  # fmt: skip
PLAN = """
schema = 1
budget_seconds = 0.2
target_width = 0.05
[limits]
processes = 1
samples = 5
blocks = 1
[[cells]]
workloads = ["launch.none"]
temperature = "warm"
[[cells]]
workloads = ["launch.fork"]
temperature = "warm"
[cells.set]
open_files = [0, 10]
placement = "free"
[cells.limits]
block_limit_ms = 20
"""
# What steers a terminal: ESC, bells, and what turns text round.
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def trials(order: random.Random) -> Iterator[Trial]:
    """Without end: each draws its own damage."""
    kinds: tuple[tuple[str, Callable[[Sandbox, random.Random], list[str]]], ...] = (
        ("run-file", _run_file), ("raw", _raw), ("metadata", _metadata), ("metadata", _metadata),
        ("explanation", _explanation), ("plan", _plan),
    )  # fmt: skip
    for number in range(sys.maxsize):
        name, attempt = kinds[number % len(kinds)]
        yield Trial(KIND, f"{name}/{order.getrandbits(32)}", attempt)


class _Zygote:
    """The process that commands are forked from; it is started again should it be ended."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.torture.zygote"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        HELPERS.add(self._process.pid)

    def run(self, sandbox: Sandbox, *words: str, call: str | None = None, **environment: str) -> Ended:
        """Run a command of ours in the sandbox, or call a function with the words."""
        sandbox.note(f"{call or 'clonometer'} {' '.join(words)}")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"words": words, "call": call, "environment": environment, "folder": str(sandbox.folder)}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        outcome = json.loads(self._process.stdout.readline())
        out, err = ((sandbox.root / name).read_text("utf-8", "replace") for name in ("out", "err"))
        hung = outcome["status"] == -signal.SIGKILL
        return Ended((*COMMAND, *words), outcome["status"], out, err, outcome["seconds"], outcome["rss_bytes"], hung)

    def close(self) -> None:
        """End it."""
        with self._process as process:
            HELPERS.discard(process.pid)


@cache
def zygote() -> _Zygote:
    """The one of this session."""
    return _Zygote()


@cache
def base(place: Path) -> dict[str, Path]:
    """Sound files to damage, measured once a session: a run, its .raw file, an explanation."""
    place.mkdir(parents=True, exist_ok=True)
    words = [*COMMAND, "run", "launch.none", "launch.fork", "work.factor", "--budget", "1", "--seed", "1"]
    subprocess.run([*words, "--out", "base.parquet"], cwd=place, capture_output=True, check=True, timeout=60)
    killed = subprocess.Popen(
        [*words, "--budget", "600", "--out", "killed.parquet"], cwd=place, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    raw = place / "killed.raw"
    while killed.poll() is None and not (raw.exists() and raw.stat().st_size > 200_000):
        pass
    killed.kill()
    killed.wait()
    words = [*COMMAND, "explain", "launch.fork", "--processes", "2", "--out", "why.json"]
    explained = subprocess.run(words, cwd=place, capture_output=True, timeout=90, check=False)
    files = {"run": place / "base.parquet", "raw": raw}
    return files | ({"why": place / "why.json"} if explained.returncode == 0 else {})


def damage(data: bytes, draw: random.Random) -> bytes:
    """Bytes with one kind of damage."""
    at = draw.randrange(len(data))
    length = min(draw.choice((1, 4, 100, 5000)), len(data) - at)
    kind = draw.randrange(6)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + draw.randbytes(length) + data[at + length :]
    if kind == 3:
        return data[:at] + data[at + length :]
    if kind == 4:
        return data[:at] + bytes(length) + data[at + length :]
    return data[:at] + data[at : at + length] * 2 + data[at + length :]


def twist(value: Any, draw: random.Random) -> str:
    """Put something hostile somewhere into a structure, in place; say where."""
    path = "$"
    while True:
        if isinstance(value, dict) and value:
            key: Any = draw.choice(sorted(value))
        elif isinstance(value, list) and value:
            key = draw.randrange(len(value))
        else:
            return path
        path += f"[{key!r}]"
        deeper = value[key]
        if isinstance(deeper, dict | list) and deeper and draw.random() < 0.85:
            value = deeper
            continue
        if isinstance(value, dict) and draw.random() < 0.2:
            del value[key]
            return f"{path} taken away"
        # What is put in may be damaged next.
        value[key] = copy.deepcopy(draw.choice(HOSTILE))
        return f"{path} = {value[key]!r:.60}"


def _read(sandbox: Sandbox, draw: random.Random, name: str, sound: Path) -> list[str]:
    words = [{"FILE": name, "BASE": str(sound)}.get(word, word) for word in draw.choice(READERS)]
    ended = zygote().run(sandbox, *words)
    # Damaged samples that can still be read may be a regression, or tell nothing.
    allowed = READS | ({1, 3} if words[0] == "check" else set())
    return [*judge(ended, allowed), *harmless(ended)]


def harmless(ended: Ended) -> list[str]:
    """What steers a terminal in what a command has printed."""
    sequence = _STEERS.search(re.sub(r"\r\n|[\n\t]", "", ended.out + ended.err))
    return [f"{sequence.group()!r} reached the terminal"] if sequence else []


def _files(sandbox: Sandbox) -> dict[str, Path]:
    return base(sandbox.root.parent / "base")


def _run_file(sandbox: Sandbox, draw: random.Random) -> list[str]:
    sound = _files(sandbox)["run"]
    (sandbox.folder / "m.parquet").write_bytes(damage(sound.read_bytes(), draw))
    return _read(sandbox, draw, "m.parquet", sound)


def _raw(sandbox: Sandbox, draw: random.Random) -> list[str]:
    files = _files(sandbox)
    (sandbox.folder / "m.raw").write_bytes(damage(files["raw"].read_bytes(), draw))
    recovered = zygote().run(sandbox, "recover", "m.raw")
    faults = [*judge(recovered, READS), *harmless(recovered)]
    if recovered.status == 0:
        faults += judge(zygote().run(sandbox, "show", "m.parquet"), {0})
    return faults


def _metadata(sandbox: Sandbox, draw: random.Random) -> list[str]:
    sound = _files(sandbox)["run"]
    table = pq.read_table(sound, use_threads=False)
    metadata = json.loads((pq.read_metadata(sound).metadata or {})[METADATA_KEY])
    # The plan, the catalogue and the processes are most of it; what stands beside must have its turn too.
    for _ in range(draw.choice((1, 1, 2, 5))):
        sandbox.note(twist(metadata[draw.choice(sorted(metadata))] if draw.random() < 0.5 else metadata, draw))
    with pq.ParquetWriter(sandbox.folder / "m.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({METADATA_KEY.decode(): json.dumps(metadata)})
    return _read(sandbox, draw, "m.parquet", sound)


def _explanation(sandbox: Sandbox, draw: random.Random) -> list[str]:
    files = _files(sandbox)
    if "why" not in files:
        return []
    explanation = json.loads(files["why"].read_text())
    for _ in range(draw.choice((1, 1, 3))):
        sandbox.note(twist(explanation, draw))
    (sandbox.folder / "why.json").write_text(json.dumps(explanation))
    ended = zygote().run(sandbox, "report", str(files["run"]), "--explain", "why.json", "--out", "r.html")
    faults = [*judge(ended, READS), *harmless(ended)]
    page = sandbox.folder / "r.html"
    if page.exists() and "<script>alert(1)" in page.read_text("utf-8", "replace"):
        faults.append("HTML of the explanation reached the page")
    return faults


def _plan(sandbox: Sandbox, draw: random.Random) -> list[str]:
    (sandbox.folder / "plan.toml").write_bytes(damage(PLAN.encode(), draw))
    # Its measuring needs processes that die with the thread that started them: not from the zygote's fork alone.
    ended = zygote().run(sandbox, "run", "--plan", "plan.toml", "--budget", "0.2", "--out", "o.parquet")
    shutil.rmtree(sandbox.folder / "clonometer-run", ignore_errors=True)
    return [*judge(ended, {0, 2, 4}), *harmless(ended), *sandbox_left(sandbox)]


def sandbox_left(sandbox: Sandbox) -> list[str]:
    """What is left of a command that the zygote started, the zygote itself aside."""
    names = sorted(path.name for path in sandbox.folder.iterdir() if path.name.startswith("."))
    return [f"left behind in the folder: {names}"] if names else []
