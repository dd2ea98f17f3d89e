"""The dataset's folder: run files come in whole, each under the name of its shard, and never twice."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path
from typing import Protocol

from clonometer.errors import OutputError, RunFileError
from clonometer.files import cannot_write, temporary_file, writing
from clonometer.runfile import open_run
from clonometer.urls import open_url, path_or_url, reaching

# File systems that write a file whole or not at all. On any other it gets its name when it is whole.
_WRITE_WHOLE = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "memory"))
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class RunStore(Protocol):
    """Where run files are kept."""

    def status_of(self, name: str) -> str | None:
        """The status of the run that has the name; None where there is none that can be read."""

    def put(self, name: str, content: bytes) -> bool:
        """Store a file that is whole; False where another has the name, which then stays as it is."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or write it anew."""


def open_store(out: str) -> RunStore:
    """Open the folder for a path or a URL, and make it where it is missing.

    Raises
    ------
    UsageError
        If a URL is given and fsspec, or what it needs for this kind of URL, is not installed.
    OutputError
        If it cannot be made or written.
    """
    where = path_or_url(out)
    return _LocalStore(where) if isinstance(where, Path) else _RemoteStore(where)


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
    """A folder behind a URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = open_url(url)
        kinds = self._system.protocol
        self._is_whole = not _WRITE_WHOLE.isdisjoint((kinds,) if isinstance(kinds, str) else kinds)
        with reaching(f"cannot write to {url}", OutputError):
            self._system.makedirs(self._path, exist_ok=True)

    def status_of(self, name: str) -> str | None:
        with reaching(f"cannot read {self._url}/{name}", OutputError):
            try:
                return check_run(self._system.cat_file(f"{self._path}/{name}"))
            except (RunFileError, OSError):
                return None

    def put(self, name: str, content: bytes) -> bool:
        try:
            self._upload(name, content, new=True)
        except FileExistsError:
            if self.status_of(name) is not None:
                return False
            self._upload(name, content)
        return True

    def write(self, name: str, content: bytes) -> None:
        self._upload(name, content)

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
