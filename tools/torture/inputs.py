"""Inputs: every kind of file that a command reads, damaged in its bytes and its values, or no file at all.

A kind is a sound file, where it is put, and what reads it: a command, or the function that commands call where they
would measure for long. Whatever is read ends soon, in little memory, with a status that docs/cli.md promises.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.advice.synthetic import terms
from tests.catalogue import CATALOGUE
from tests.fakes.fork_machine import fork_machine
from tools.torture import mutations
from tools.torture.mutations import PLAN, damage, twist, zygote
from tools.torture.sandbox import COMMAND, Ended, Sandbox, judge
from tools.torture.trials import READS, Trial

from clonometer.app.run_cache import _read_answer
from clonometer.host.facts import collect
from clonometer.inputs import read_text
from clonometer.launch_paths.reading import BOOK, parse_runtime, parse_seen
from clonometer.model.store import machine_of
from clonometer.plan.planfile import load_plan
from clonometer.records import to_json

KIND = "inputs"
MOST_RSS_BYTES = 500_000_000
_DATA = "data/clonometer"
_BOOK = Path("src/clonometer/launch_paths")


@dataclass(frozen=True)
class Input:
    """A kind of input: a sound one, its name, who reads it (FILE, BASE and OTHER in the words), how that may end."""

    sound: bytes
    name: str
    words: tuple[str, ...]
    call: str | None = None
    allowed: frozenset[int] = READS


def trials(order: random.Random) -> Iterator[Trial]:
    """Without end: each draws its own damage."""
    names = sorted(KINDS)
    for number in range(sys.maxsize):
        name = names[number % len(names)]
        yield Trial(KIND, f"{name}/{order.getrandbits(32)}", _attempt(name))


def _attempt(name: str) -> Callable[[Sandbox, random.Random], list[str]]:
    def attempt(sandbox: Sandbox, draw: random.Random) -> list[str]:
        ended = read(sandbox, name, lambda sound, path: sandbox.note(_damaged(sound, path, draw)))
        faults = [*judge(ended, KINDS[name](files(_base(sandbox))).allowed), *mutations.harmless(ended)]
        if ended.rss_bytes > MOST_RSS_BYTES:
            faults.append(f"{ended.rss_bytes // 1_000_000} MB in memory")
        return faults

    return attempt


def read(sandbox: Sandbox, name: str, put: Callable[[bytes, Path], object]) -> Ended:
    """Let an input be read after ``put`` has made a file of the sound one, or of something else."""
    sound = files(_base(sandbox))
    kind = KINDS[name](sound)
    path = sandbox.folder / kind.name
    data = sandbox.folder / _DATA
    data.mkdir(mode=0o700, parents=True)
    (data / "calibration.json").write_bytes(_calibration())
    if path.exists():
        path.unlink()
    path.parent.mkdir(exist_ok=True)
    put(kind.sound, path)
    named = {"FILE": kind.name, "BASE": str(sound["run"]), "OTHER": str(sound["profile"])}
    words = [named.get(word, word) for word in kind.words]
    return zygote().run(sandbox, *words, call=kind.call, XDG_DATA_HOME=str(data.parent), CLONOMETER_NO_SINCE="1")


def _base(sandbox: Sandbox) -> Path:
    return sandbox.root.parent / "base"


@cache
def files(place: Path) -> dict[str, Path]:
    """Sound files of this session, by name."""
    made_before = mutations.base(place)
    sources = {
        "page.json": ("page", "--rough", "--no-scan", "--json"),
        "profile.json": ("predict", "--pid", str(os.getpid()), "--rough", "--save-profile", "profile.json"),
        "mine.clonometer.json": ("publish", "base.parquet", "--anonymous", "--yes", "--out", "mine.clonometer.json"),
        "series.txt": ("history", "runs", "--export", "openmetrics", "--out", "series.txt"),
    }
    (place / "runs").mkdir(exist_ok=True)
    shutil.copy(made_before["run"], place / "runs")
    for name, words in sources.items():
        made = subprocess.run([*COMMAND, *words], cwd=place, capture_output=True, timeout=90, check=False)
        if words[-1] == "--json":
            (place / name).write_bytes(made.stdout)
        if not (place / name).exists():
            raise RuntimeError(f"{' '.join(words)}: {made.stderr.decode()}")
    return made_before | {name.partition(".")[0]: place / name for name in sources}


@cache
def _calibration() -> bytes:
    """An invented calibration that is said to be of this machine: what a file says is worked with, too."""
    made = to_json(fork_machine().calibration) | {"machine": machine_of(collect())}
    return json.dumps(made).encode()


def _terms() -> bytes:
    return _text(to_json(terms()))  # type: ignore[no-untyped-call]


_ROW = {"cell": "launch.fork[temperature=warm]", "temperature": "warm", "quantity": "reaped_ns", "between_rounds": 0.5}
_NOISE = {"schema": 2, "rounds": 3, "rows": [{**_ROW, "placement": place} for place in (None, "same_cpu", "other_cpu")]}
_WISH = 'rate = 200\nwork = "2ms"\nblock = "1ms"\nmemory = "1GiB"\nworkers = 4\nlimit = "p99=30ms"\n'
_LIMITS = '[launches]\nmax = 20\nprocesses = 9\nfork = 0\n"shares memory" = 1\n[programs]\ngit = 3\n"/bin/true" = 9\n'
_HOSTS = "# a farm\nweb1\nalice@web2 second\nssh://web3:2222 third # slow\n"
_ANSWER = {"machine": {"cpu.model": "x"}, "answer": {"reason": "no tracefs"}}
_STILL = ("--no-scan",)
_HERE = "tools.torture.inputs"
_TELLS = READS | {1, 3}
KINDS: dict[str, Callable[[dict[str, Path]], Input]] = {
    "run": lambda files: Input(files["run"].read_bytes(), "m.parquet", ("show", "FILE")),
    "folder": lambda files: Input(files["run"].read_bytes(), "all/m.parquet", ("fleet", "show", "all")),
    "raw": lambda files: Input(files["raw"].read_bytes(), "m.raw", ("recover", "FILE")),
    "explanation": lambda files: Input(
        files["why"].read_bytes() if "why" in files else b"{}", "why.json",
        ("report", "BASE", "--explain", "FILE", "--out", "r.html"),
    ),
    "plan": lambda _: Input(PLAN.encode(), "plan.toml", ("FILE",), f"{_HERE}:read_plan"),
    "limits": lambda _: Input(
        _LIMITS.encode(), "launches.toml", ("budget", "--limits", "FILE", "--no-hooks", "--", "true"),
        allowed=READS | {1, 125},
    ),
    "wish": lambda _: Input(_WISH.encode(), "wish.toml", ("FILE",), f"{_HERE}:read_wish"),
    "profile": lambda files: Input(files["profile"].read_bytes(), "p.json", ("predict", "--profile", "FILE", *_STILL)),
    "calibration": lambda _: Input(
        _calibration(), f"{_DATA}/calibration.json", ("predict", "--profile", "OTHER", *_STILL)
    ),
    "terms": lambda _: Input(_terms(), "terms.json", ("FILE",), f"{_HERE}:read_terms_file"),
    "page": lambda files: Input(
        files["page"].read_bytes(), "page.json", ("page", "--from", "FILE", "--out", "page.html")
    ),
    "noise": lambda _: Input(_text(_NOISE), "n.json", ("compare", "BASE", "BASE", "--noise", "FILE"), allowed=_TELLS),
    "summary": lambda files: Input(
        files["mine"].read_bytes(), "all/m.clonometer.json", ("gallery", "all", "--out", "site")
    ),
    "series": lambda files: Input(files["series"].read_bytes(), "m.txt", ("history", "FILE"), allowed=_TELLS),
    "hosts": lambda _: Input(_HOSTS.encode(), "hosts", ("FILE",), f"{_HERE}:read_hosts_file"),
    "book": lambda _: Input((_BOOK / "book/python.toml").read_bytes(), "b.toml", ("FILE",), f"{_HERE}:read_book"),
    "seen": lambda _: Input((_BOOK / "seen.json").read_bytes(), "seen.json", ("FILE",), f"{_HERE}:read_seen"),
    "answer": lambda _: Input(_text(_ANSWER), "a.json", ("FILE",), f"{_HERE}:read_kept"),
    "metrics": lambda _: Input(b"# EOF\n", "m.prom", ("FILE",), f"{_HERE}:read_metrics"),
}  # fmt: skip


def read_plan(path: str) -> None:
    """Read a plan, and expand it."""
    load_plan(Path(path), CATALOGUE)


def read_wish(path: str) -> None:
    """Read a wish, and check it."""
    from clonometer.app.advise import make_wish, read_wish_file

    make_wish(read_wish_file(Path(path)))


def read_terms_file(path: str) -> None:
    """Read what servers were predicted from."""
    from clonometer.advice.store import read_terms

    read_terms(Path(path))


def read_hosts_file(path: str) -> None:
    """Read names of hosts, of which none is asked."""
    from clonometer.fleet.ssh_hosts import read_hosts

    read_hosts(Path(path))


def read_book(path: str) -> None:
    """Read a runtime's launch paths."""
    parse_runtime(read_text(Path(path), BOOK), path)


def read_seen(path: str) -> None:
    """Read what was seen of launch paths."""
    parse_seen(read_text(Path(path), BOOK))


def read_kept(path: str) -> None:
    """Read an answer that a reproduction keeps."""
    _read_answer("fork", Path(path))


def read_metrics(path: str) -> None:
    """Look at the file that metrics would replace."""
    from clonometer.cli.metrics_file import check_metrics_file

    check_metrics_file(Path(path), "# HELP x", force=False)


def _text(document: object) -> bytes:
    return json.dumps(document, indent=1).encode()


def _damaged(sound: bytes, path: Path, draw: random.Random) -> str:
    """Put a damaged input in place; say how."""
    if draw.random() < 0.15:
        name = draw.choice(sorted(ODD))
        ODD[name](path)
        return f"{path.name}: {name}"
    by_values = _by_values(sound, draw, path.suffix == ".json") if draw.random() < 0.6 else None
    content, how = by_values or (sound, "")
    if by_values is None or draw.random() < 0.1:
        for _ in range(draw.choice((1, 1, 2, 8))):
            content = damage(content, draw) if content else content
        how += " bytes"
    path.write_bytes(content)
    return f"{path.name}: {how}"


def _by_values(sound: bytes, draw: random.Random, is_json: bool) -> tuple[bytes, str] | None:
    """The file with other values than sound ones; None of what has no text."""
    try:
        text = sound.decode()
    except UnicodeDecodeError:
        return None
    return _twisted_json(json.loads(text), draw) if is_json else _twisted_lines(text, draw)


def _twisted_json(document: object, draw: random.Random) -> tuple[bytes, str]:
    changes = [twist(document, draw) for _ in range(draw.choice((1, 1, 1, 3, 10)))]
    text = json.dumps(document)
    if draw.random() < 0.25:
        # What json.dumps does not write.
        literal = draw.choice(LITERALS)
        places = [match.span() for match in re.finditer(r'(?<=: )(?:-?[\d.]+|"[^"]*"|null)(?=[,}])', text)]
        if places:
            begin, end = draw.choice(places)
            text = f"{text[:begin]}{literal}{text[end:]}"
            changes.append(f"{literal[:40]} at {begin}")
    return text.encode("utf-8", "surrogatepass"), "; ".join(changes)


def _twisted_lines(text: str, draw: random.Random) -> tuple[bytes, str]:
    lines = text.splitlines()
    changes = []
    for _ in range(draw.choice((1, 1, 2, 5))):
        number = draw.randrange(len(lines))
        key, equals, value = lines[number].partition("=")
        kind = draw.randrange(5)
        if kind == 0:
            del lines[number]
        elif kind == 1:
            lines.insert(number, draw.choice(lines))
        elif kind == 2:
            lines[number] = f"{draw.choice(LITERALS)}{equals}{value}"
        else:
            lines[number] = f"{key}= {draw.choice(LITERALS)}"
        lines = lines or [""]
        changes.append(f"line {number}, {kind}")
    return "\n".join(lines).encode("utf-8", "surrogatepass"), "; ".join(changes)


#: Values that a parser or whoever has its result may stumble over, in JSON and in TOML.
LITERALS = (
    "NaN", "-Infinity", "nan", "inf", "1e999", "-1e-999", "9" * 30, "-9223372036854775809", "9" * 5000, "-0.0",
    "0x" + "f" * 5000, "1" + "0" * 4000, "[" * 3000, "[" * 40 + "]" * 40, '{"a":' * 200 + "1" + "}" * 200,
    "a" + ".a" * 20_000, '""', "''", '"\\ud800"', '"' + "x" * 100_000 + '"', "true", "null", "[]", "{}", "1e308",
    "1979-05-27T07:32:00Z", "'\x1b]0;title\x07'", '"<script>alert(1)</script>"', '"../../etc/passwd"', "&a [*a, *a]",
    "!!python/object:os.system {}", "*" * 200, "18446744073709551616", "\ufeff", "\u202e",
)  # fmt: skip


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _pipe_by_a_link(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def _socket(path: Path) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


def _unreadable(path: Path) -> None:
    path.write_bytes(b"{}")
    path.chmod(0)


#: What may stand under the name instead of a file.
ODD: dict[str, Callable[[Path], object]] = {
    "a named pipe": os.mkfifo,
    "a link to a named pipe": _pipe_by_a_link,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "/dev/null": lambda path: path.symlink_to("/dev/null"),
    "a terminal": lambda path: path.symlink_to("/dev/tty"),
    "a folder": Path.mkdir,
    "a socket": _socket,
    "a sparse file of a TiB": _sparse,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "nothing": lambda path: None,
    "an empty file": Path.touch,
    "an unreadable file": _unreadable,
    "memory": lambda path: path.symlink_to("/proc/self/mem"),
    "the kernel's symbols": lambda path: path.symlink_to("/proc/kallsyms"),
    "zeros": lambda path: path.write_bytes(bytes(20 << 20)),
    "lists without end": lambda path: path.write_bytes(b"[" + b"[]," * (2 << 20)),
    "lines without end": lambda path: path.write_bytes(b"\n" * (20 << 20)),
    "keys without end": lambda path: path.write_bytes(b"a" + b".a" * (30 << 10) + b" = 1"),
}
