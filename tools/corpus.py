"""What fuzzers have made up, as a text that git can keep: an input a line, in hexadecimal, the shortest first.

``corpus.py unpack TEXT FOLDER`` writes a file for each line, as libFuzzer reads them; ``pack`` does the reverse.
"""

from __future__ import annotations

import sys
from pathlib import Path

# One that is longer is for the search: git keeps what a reader of the diff can still look at.
MOST_BYTES = 512


def unpack(text: Path, folder: Path) -> None:
    """Write a file for each line."""
    for number, line in enumerate(text.read_text().split() if text.exists() else []):
        (folder / f"{number}").write_bytes(bytes.fromhex(line))


def pack(text: Path, folder: Path) -> None:
    """Write a line for each file that is short enough."""
    contents = {path.read_bytes() for path in folder.iterdir()}
    kept = sorted(
        (content for content in contents if 0 < len(content) <= MOST_BYTES), key=lambda content: (len(content), content)
    )
    text.write_text("".join(f"{content.hex()}\n" for content in kept))


if __name__ == "__main__":
    {"unpack": unpack, "pack": pack}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
