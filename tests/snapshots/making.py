"""Makes every snapshot; ``python -m tests.snapshots.making`` writes those that differ, and removes what none is now."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.snapshots.commands import commands
from tests.snapshots.documents import documents
from tests.snapshots.findings import findings

FOLDER = Path(__file__).parent
#: Who makes the files of each folder.
MAKERS = {"commands": commands, "documents": documents, "findings": findings}


def stored(folder: str) -> dict[str, str]:
    """Give the files of a folder as git has them: the text of each by its name."""
    files = (path for path in (FOLDER / folder).glob("*") if path.is_file())
    return {f"{folder}/{path.name}": path.read_bytes().decode(errors="surrogateescape") for path in files}


def made(folder: str) -> dict[str, str]:
    """Give the files of a folder as the code makes them now."""
    return {name: "".join(text) for name, text in MAKERS[folder]()}


def main() -> None:
    """Write what differs, and say its names: a commit's diff shows the rest."""
    with ProcessPoolExecutor() as processes:
        anew = dict(zip(MAKERS, processes.map(made, MAKERS), strict=True))
    for folder, now in anew.items():
        (FOLDER / folder).mkdir(exist_ok=True)
        before = stored(folder)
        for name in sorted(before.keys() | now.keys()):
            if name not in now:
                (FOLDER / name).unlink()
            elif before.get(name) != now[name]:
                (FOLDER / name).write_bytes(now[name].encode(errors="surrogateescape"))
            if before.get(name) != now.get(name):
                print(f"{'gone' if name not in now else 'written'}: tests/snapshots/{name}")  # noqa: T201


if __name__ == "__main__":
    main()
