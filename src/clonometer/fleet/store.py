"""The dataset's folder: run files come in whole, each under the name of its shard, and never twice."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from clonometer.errors import OutputError, RunFileError, UnfinishedError
from clonometer.files import cannot_write, temporary_file, writing
from clonometer.runfile import open_run
from clonometer.urls import open_url, path_or_url, reaching
from clonometer.user_cache import user_folder

# File systems that write a file whole or not at all. On any other it gets its name when it is whole.
_WRITE_WHOLE = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "memory"))
# Written and removed, to see that it can be done; hidden from those who read the folder.
_TRIAL = ".clonometer-trial"
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class RunStore(Protocol):
    """Where run files are kept."""

    def status_of(self, name: str) -> str | None:
        """The status of the run that has the name; None where there is none that can be read."""

    def put(self, name: str, content: bytes) -> bool:
        """Store a file that is whole; False where another has the name, which then stays as it is."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or write it anew."""


def open_store(out: str, warn: Callable[[str], None] = lambda _: None) -> RunStore:
    """Open the folder for a path or a URL, and make it where it is missing.

    ``warn`` learns of files that cannot be written to a URL for now.

    Raises
    ------
    UsageError
        If a URL is given and fsspec, or what it needs for this kind of URL, is not installed.
    OutputError
        If it cannot be made or written.
    """
    where = path_or_url(out)
    return _LocalStore(where) if isinstance(where, Path) else _RemoteStore(where, warn)


def check_run(content: bytes) -> str:
    """Open a run file that came from a host, and give its status.

    Raises
    ------
    RunFileError
        If it is none, or damaged.
    """
    with tempfile.NamedTemporaryFile(prefix="clonometer-", suffix=".parquet") as file:
        file.write(content)
        file.flush()
        with open_run(file.name) as run:
            return run.document.status


class _LocalStore:
    """A folder of this machine's file systems, NFS among them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            with temporary_file(path):
                pass
        except OSError as error:
            raise cannot_write(f"in {path}", error) from error

    def status_of(self, name: str) -> str | None:
        try:
            with open_run(self._path / name) as run:
                return run.document.status
        except (RunFileError, OSError):
            return None

    def put(self, name: str, content: bytes) -> bool:
        """Store a file that is whole: under another name first, then by a link, which refuses a name that is taken."""
        path = self._path / name
        try:
            with temporary_file(self._path) as new:
                new.file.write(content)
                new.file.flush()
                os.fsync(new.file.fileno())
                try:
                    os.link(new.temporary, path, follow_symlinks=False)
                except FileExistsError:
                    return self._mend(name, new.temporary)
                except OSError as error:
                    if error.errno not in _NO_LINKS:
                        raise
                    # File systems without links: of two that come at the same moment the later one stays.
                    if path.exists():
                        return self._mend(name, new.temporary)
                    new.temporary.replace(path)
        except OSError as error:
            raise cannot_write(str(path), error) from error
        return True

    def _mend(self, name: str, temporary: Path) -> bool:
        """Take the place of what has the name, if that is damaged."""
        if self.status_of(name) is not None:
            return False
        temporary.replace(self._path / name)
        return True

    def write(self, name: str, content: bytes) -> None:
        try:
            with writing(self._path / name, durable=True) as new:
                new.file.write(content)
        except OSError as error:
            raise cannot_write(str(self._path / name), error) from error


class _RemoteStore:
    """A folder behind a URL.

    What cannot be written there is kept on this machine, and is written as soon as it can be: measurements took long.
    """

    def __init__(self, url: str, warn: Callable[[str], None]) -> None:
        self._url = url
        self._warn = warn
        self._system, self._path = open_url(url)
        kinds = self._system.protocol
        self._is_whole = not _WRITE_WHOLE.isdisjoint((kinds,) if isinstance(kinds, str) else kinds)
        self._kept = _KeptFiles(url)
        with reaching(f"cannot write to {url}", OutputError):
            if not self._is_whole:
                self._system.makedirs(self._path, exist_ok=True)
            # Object stores have no folders: to make one would make the bucket of a name that is mistyped. And only
            # who has written there knows that it can be done, before hours of measuring.
            trial = f"{self._path}/{_TRIAL}"
            self._system.pipe_file(trial, b"")
            with contextlib.suppress(Exception):  # Some may write and remove nothing.
                self._system.rm_file(trial)
        self._deliver()

    def status_of(self, name: str) -> str | None:
        try:
            return self._read_status(name)
        except OutputError:
            # Measured again at worst: a round that is there is not replaced.
            return None

    def put(self, name: str, content: bytes) -> bool:
        try:
            return self._put(name, content)
        except OutputError as error:
            self._kept.keep(name, content, error)
            self._warn(f"{error.message}; it is kept here, and the rest is measured")
            return True

    def write(self, name: str, content: bytes) -> None:
        try:
            self._deliver()
            self._upload(name, content)
        except OutputError as error:
            self._kept.keep(name, content, error)
            raise self._kept.undelivered(error) from error

    def _deliver(self) -> None:
        """Write what is kept here, if any is."""
        for name, path in self._kept.files():
            if name.endswith(".parquet"):
                self._put(name, path.read_bytes())
            else:
                self._upload(name, path.read_bytes())
            path.unlink()

    def _read_status(self, name: str) -> str | None:
        with reaching(f"cannot read {self._url}/{name}", OutputError):
            try:
                return check_run(self._system.cat_file(f"{self._path}/{name}"))
            except (RunFileError, FileNotFoundError, PermissionError):
                return None

    def _put(self, name: str, content: bytes) -> bool:
        try:
            self._upload(name, content, new=True)
        except FileExistsError:
            if self._read_status(name) is not None:
                return False
            self._upload(name, content)
        return True

    def _upload(self, name: str, content: bytes, *, new: bool = False) -> None:
        path = f"{self._path}/{name}"
        with reaching(f"cannot write {self._url}/{name}", OutputError):
            if new and self._is_whole:
                try:
                    # Refused by the store itself where another has written the name at this moment.
                    self._system.pipe_file(path, content, mode="create")
                    return
                except (TypeError, ValueError, NotImplementedError):
                    pass  # It knows no such mode: the look before is all that can be had.
            if new:
                self._system.invalidate_cache()
                if self._system.exists(path):
                    raise FileExistsError(path)
            if self._is_whole:
                self._system.pipe_file(path, content)
                return
            temporary = f"{self._path}/.clonometer-{os.urandom(12).hex()}.tmp"
            try:
                self._system.pipe_file(temporary, content)
                if not new and self._system.exists(path):
                    self._system.rm_file(path)
                self._system.mv(temporary, path)
            except BaseException:
                with contextlib.suppress(Exception):
                    self._system.rm_file(temporary)
                raise


class _KeptFiles:
    """What could not be written to a URL, in a folder of the user's that belongs to this URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        place = user_folder("XDG_DATA_HOME", ".local/share")
        self._folder = None if place is None else place / f"undelivered-{hashlib.sha256(url.encode()).hexdigest()[:24]}"

    def files(self) -> list[tuple[str, Path]]:
        """Their names and where they are, in the order of the names."""
        if self._folder is None or not self._folder.is_dir():
            return []
        return [(path.name, path) for path in sorted(self._folder.iterdir()) if not path.name.startswith(".")]

    def keep(self, name: str, content: bytes, error: OutputError) -> None:
        """Keep a file; where that cannot be done either, ``error`` is raised."""
        if self._folder is None:
            # No folder of the user's is safe: a new one is, and the message will name it.
            self._folder = Path(tempfile.mkdtemp(prefix="clonometer-undelivered-"))
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with writing(self._folder / name, durable=True) as new:
                new.file.write(content)
        except OSError:
            raise error from None

    def undelivered(self, error: OutputError) -> UnfinishedError:
        """Say how many there are, why and where, and what brings them there."""
        count = len(self.files())
        kept = f"{count} files for {self._url} are kept in {self._folder}"
        hint = "the same command writes them there first, with the same --seed; it measures nothing twice"
        return UnfinishedError(error.message, kept, (error.hint and f"{error.hint}; {hint}") or hint)
