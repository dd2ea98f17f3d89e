"""What people read is plain English: sentences of 25 words at most, and no words that only this house uses so.

Reads the Markdown that people read, and the golden file of findings and warnings. proselint (.proselintrc.json)
looks for the rest.

Usage: python tools/prose.py [FILE...]
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MOST_WORDS = 25
#: What a reader stumbles over, and what to write instead.
AVOID = {
    r"told apart": "could (not) tell a difference between",
    r"told from": "different from",
    r"\boftener": "more often",
    r"kinds? of process\b": "condition",
    r"\b(?:is|are) said\b": "the subject that says it: `the table says`",
    r"\bof it (?:is|are|was)\b": "`its`, or the noun",
    r"\bwhereof|\bthereof|\bthereby|\bwherein\b": "two sentences",
    r"\bnot seen to\b": "`does not`, or `no effect was found`",
    r"\bcompared is\b": "the usual word order",
}
#: Generated from the commands, whose help texts are read at the terminal.
GENERATED = {"docs/cli.md"}
GOLDEN = "tests/data/sentences.txt"
_BLOCKS = (
    re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL),
    re.compile(r"<!--.*?-->", re.DOTALL),
    # Tables, headings, and the figures that stand under a golden sentence.
    re.compile(r"^(?: {4}(?:ratio|cells): .*|\|.*|#.*|={3}.*)$", re.MULTILINE),
)
_INDENTED_CODE = re.compile(r"^ {4}.*$", re.MULTILINE)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+[.)]) )")
_END = re.compile(r"(?<=[.!?:;])[*_`\"]*\s+")


def sentences(text: str, *, markdown: bool = True) -> Iterator[str]:
    """Give the sentences of a text: a colon and a semicolon end one, since a reader pauses there.

    Parameters
    ----------
    text
        Of a page, or of the golden file. Blocks of code, tables and headings are left out, as are asides in brackets.
    markdown
        Whether indented lines are code.
    """
    for pattern in (*_BLOCKS, *([_INDENTED_CODE] if markdown else [])):
        text = pattern.sub("\n", text)
    while text != (without := _ASIDE.sub("", text)):
        text = without
    for paragraph in (_PARAGRAPH.split if markdown else str.splitlines)(text):
        yield from _END.split(" ".join(paragraph.split()))


def faults(path: Path) -> Iterator[str]:
    """Say which sentences of a file are too long, and which words it should not use."""
    text = path.read_text(encoding="utf-8")
    for sentence in sentences(text, markdown=path.suffix == ".md"):
        # What begins an item, and signs in a formula, are no words.
        words = sum(re.search(r"\w", word) is not None for word in sentence.split())
        if words > MOST_WORDS:
            yield f"{path}: a sentence of {words} words: {sentence[:70]} ... {sentence[-40:]}"
    for pattern, instead in AVOID.items():
        # Words of one phrase may stand in two lines.
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
            line = text[: match.start()].count("\n") + 1
            yield f"{path}:{line}: {' '.join(match[0].split())!r}: write {instead}"


def _files() -> list[Path]:
    command = ["git", "ls-files", "README.md", ":(glob)docs/*.md", GOLDEN]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.split() if name not in GENERATED]


def main() -> int:
    """Print every fault; status 1 where there is any."""
    everything = [fault for path in [Path(name) for name in sys.argv[1:]] or _files() for fault in faults(path)]
    print("\n".join(everything))
    return 1 if everything else 0


if __name__ == "__main__":
    sys.exit(main())
