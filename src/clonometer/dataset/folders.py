"""Where run files lie, on this machine or behind a URL: which there are, and where their summaries are kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from clonometer.errors import InputError
from clonometer.urls import open_url, reaching
from clonometer.user_cache import user_folder

SUFFIX = ".parquet"
FOLDER = ".clonometer-summaries"
# What file systems of fsspec call the time at which a file was written.
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")


@dataclass(frozen=True)
class FoundFile:
    """A file that is named as a run file, with what tells whether it has changed; 0 where no time is known."""

    path: str
    size: int
    mtime_ns: int


class RunFolder(Protocol):
    """A folder of run files, with folders in it or without."""

    def files(self) -> list[FoundFile]:
        """Find its run files, hidden ones and links to folders apart, in the order of their paths.

        Raises
        ------
        InputError
            If it cannot be read.
        """

    def at_hand(self, file: FoundFile) -> AbstractContextManager[Path]:
        """A path at which the file can be read for as long as the block lasts."""

    def summaries(self) -> Path | None:
        """Where the summaries of its files stand; None where nowhere can be written."""


def open_runs(folder: Path | str) -> RunFolder:
    """Open a folder by its path or its URL.

    Raises
    ------
    UsageError
        If nothing is installed that opens such URLs.
    """
    return _LocalRuns(folder) if isinstance(folder, Path) else _FarRuns(folder)


@dataclass(frozen=True)
class _LocalRuns:
    folder: Path

    def files(self) -> list[FoundFile]:
        if not self.folder.is_dir():
            why = "is not a folder" if self.folder.exists() else "does not exist"
            raise InputError(f"{self.folder} {why}", "name a folder of run files")
        return sorted(_walk(str(self.folder), ""), key=lambda file: file.path)

    def at_hand(self, file: FoundFile) -> AbstractContextManager[Path]:
        return nullcontext(self.folder / file.path)

    def summaries(self) -> Path | None:
        beside = self.folder / FOLDER
        try:
            if not beside.is_symlink():
                beside.mkdir(exist_ok=True)
                if os.access(beside, os.W_OK):
                    return beside
        except OSError:
            pass
        return _in_the_cache(str(self.folder.resolve()))


def _walk(folder: str, inside: str) -> Iterator[FoundFile]:
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from error
    for entry in entries:
        name = f"{inside}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{name}/")
        elif entry.name.endswith(SUFFIX) and entry.is_file():
            status = entry.stat()
            yield FoundFile(name, status.st_size, status.st_mtime_ns)


class _FarRuns:
    """Files behind a URL: each new one is copied here, read once, and removed; summaries are kept in the cache."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = open_url(url)

    def files(self) -> list[FoundFile]:
        with reaching(f"cannot read {self._url}", InputError):
            # What others have written since is not in a listing that was kept.
            self._system.invalidate_cache()
            if not self._system.isdir(self._path):
                raise InputError(f"{self._url} is not a folder, or does not exist", "name a folder of run files")
            listed: Mapping[str, Mapping[str, Any]] = self._system.find(self._path, detail=True)
        entries = ((path.removeprefix(self._path).lstrip("/"), entry) for path, entry in listed.items())
        return sorted(
            (
                FoundFile(path, int(entry["size"]), _written_ns(entry))
                for path, entry in entries
                if path.endswith(SUFFIX) and not any(part.startswith(".") for part in path.split("/"))
            ),
            key=lambda file: file.path,
        )

    @contextmanager
    def at_hand(self, file: FoundFile) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="clonometer-") as folder:
            copy = Path(folder, "run.parquet")
            with reaching(f"cannot read {self._url}/{file.path}", InputError):
                self._system.get_file(f"{self._path}/{file.path}", str(copy))
            yield copy

    def summaries(self) -> Path | None:
        return _in_the_cache(self._url)


def _written_ns(entry: Mapping[str, Any]) -> int:
    written = next((entry[name] for name in _TIMES if entry.get(name)), 0)
    if isinstance(written, str):
        try:
            written = datetime.fromisoformat(written)
        except ValueError:
            return 0
    if isinstance(written, datetime):
        written = (written if written.tzinfo else written.replace(tzinfo=UTC)).timestamp()
    return int(written * 1e9) if isinstance(written, int | float) else 0


def _in_the_cache(folder: str) -> Path | None:
    kept = user_folder("XDG_CACHE_HOME", ".cache")
    if kept is None:
        return None
    place = kept / f"summaries-{hashlib.sha256(folder.encode()).hexdigest()[:24]}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return place
