"""`make gallery`: measures the runs of docs/gallery.md, draws their pictures and writes the page; README's two as well.

Some six minutes on a quiet machine. A run that build/gallery has already is not measured again.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
RUNS = PROJECT / "build" / "gallery"
PICTURES = PROJECT / "docs" / "pictures"
PAGE = PROJECT / "docs" / "gallery.md"
_COMMAND = Path(sys.executable).with_name("clonometer")
#: Parts of the first screen that the page repeats.
_PARTS = ("answer", "why", "what_to_do")

_HEAD = """# Gallery

Questions that people ask, the command that answers each, and its answer on one machine:
{machine}. Yours will differ. `make gallery` measures and draws all of this again.
"""


@dataclass(frozen=True)
class Entry:
    """A question, and the words of `clonometer run` that answer it; ``picture`` is its name in docs/pictures."""

    picture: str
    question: str
    words: str


ENTRIES = (
    Entry("answer", "What do a new process and a new thread cost?", "--plan default"),
    Entry(
        "memory",
        "How does memory in the parent affect them?",
        "launch.fork launch.pthread launch.posix_spawn --set parent_bytes=0,4MiB,64MiB,1GiB --budget 40s",
    ),
    Entry("cow", "What does a fork cost afterwards?", "--plan cow-quick"),
    Entry("flags", "What does each thing that a thread shares save?", "--plan flags"),
    Entry("ipc", "Are messages between threads faster?", "--plan ipc-quick"),
    Entry("contend", "Where do threads slow each other down?", "--plan contend-quick"),
    Entry("isolate", "Who survives when a worker fails?", "--plan isolate-quick"),
    Entry("footprint", "How much memory does an idle task hold?", "--plan footprint-quick"),
)
#: The local part of a kernel's release.
_LOCAL = re.compile(r"-.*")
_TIMELINE = "explain launch.fork --vs launch.pthread"


def clonometer(*words: str | Path) -> str:
    """Run a command; what it prints."""
    return subprocess.run([_COMMAND, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def section(entry: Entry) -> tuple[str, str]:
    """Measure and draw an entry; its part of the page, and the machine."""
    run = RUNS / f"{entry.picture}.parquet"
    if not run.exists():
        clonometer("run", *shlex.split(entry.words), "--out", run)
    picture = PICTURES / f"{entry.picture}.svg"
    clonometer("plot", run, "--out", picture, "--force")
    answer = json.loads(clonometer("show", run, "--json"))
    _shorten_release(picture)
    sentences = [finding["sentence"] for part in _PARTS for finding in answer["first"][part]]
    host = answer["host"]
    machine = f"{host['cpu.model']}, {host['cpu.allowed']} CPUs, Linux {_LOCAL.sub('', host['kernel.release'])}"
    return _written(entry.question, f"run {entry.words}", sentences, entry.picture), machine


def _shorten_release(picture: Path) -> None:
    """Leave out what a kernel's release says of where it was built: nobody else has that."""
    text = picture.read_text(encoding="utf-8")
    picture.write_text(re.sub(r"(Linux [\d.]+)-[\w.-]+", r"\1", text), encoding="utf-8")


def _written(question: str, words: str, sentences: list[str], picture: str) -> str:
    bullets = "".join(f"- {sentence}\n" for sentence in sentences)
    return f"\n## {question}\n\n    clonometer {words}\n\n{bullets}\n![{question}](pictures/{picture}.svg)\n"


def timeline() -> str:
    """Take a fork and a thread to pieces, and draw them."""
    kept = RUNS / "explain.json"
    picture = PICTURES / "timeline.svg"
    if not kept.exists() or not picture.exists():
        clonometer(*_TIMELINE.split(), "--out", kept, "--picture", picture, "--force")
        _shorten_release(picture)
    from clonometer.tracing.from_json import read_explanation
    from clonometer.tracing.types import Versus
    from clonometer.views.explain_texts import versus_sentence

    versus = read_explanation(kept.read_text(encoding="utf-8"))
    assert isinstance(versus, Versus)
    return _written("Where does the time of a launch go?", _TIMELINE, [versus_sentence(versus)], "timeline")


def main() -> int:
    """Write everything."""
    RUNS.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    parts = [section(entry) for entry in ENTRIES]
    texts = [text for text, _ in parts]
    texts.insert(1, timeline())
    PAGE.write_text(_HEAD.format(machine=parts[0][1]) + "".join(texts), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(PROJECT)}: {len(texts)} questions\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
