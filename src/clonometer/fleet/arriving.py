"""The dataset's folder: run files come in whole, each under the name of its shard, and never twice."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from clonometer.errors import OutputError, RunFileError, UsageError
from clonometer.files import cannot_write
from clonometer.runfile import open_run

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Folder(Protocol):
    """Where run files are kept."""

    def status_of(self, name: str) -> str | None:
        """The status of the run that has the name; None where there is none that can be read."""

    def keep(self, name: str, content: bytes) -> bool:
        """Keep a file that is whole; False where another has the name, which then stays as it is."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or write it anew."""


def open_folder(out: str) -> Folder:
    """Open the folder for a path or for the URL of any fsspec file system, and make it where it is missing.

    Raises
    ------
    UsageError
        If a URL is given and fsspec, or what it needs for this kind of URL, is not installed.
    OutputError
        If it cannot be made or written.
    """
    out = out.removeprefix("file://")
    if "://" not in out:
        return LocalFolder(Path(out))
    try:
        import fsspec

        system, path = fsspec.core.url_to_fs(out)
        system.makedirs(path, exist_ok=True)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"cannot write to {out}: {error}", "pip install 'clonometer[fleet]', and s3fs for s3://"
        ) from None
    except OSError as error:
        raise cannot_write(out, error) from error
    return _FarFolder(system, path, out)


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
            return run.details.status


class LocalFolder:
    """A folder of this machine's file systems, NFS among them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path, prefix=".clonometer-"):
                pass
        except OSError as error:
            raise cannot_write(f"in {path}", error) from error

    def status_of(self, name: str) -> str | None:
        """The status of the run that has the name."""
        try:
            with open_run(self._path / name) as run:
                return run.details.status
        except (RunFileError, OSError):
            return None

    def keep(self, name: str, content: bytes) -> bool:
        """Keep a file that is whole: under another name first, then by a link, which refuses a name that is taken."""
        path = self._path / name
        try:
            with _whole(self._path, content) as temporary:
                try:
                    os.link(temporary, path, follow_symlinks=False)
                except FileExistsError:
                    return False
                except OSError as error:
                    if error.errno not in _NO_LINKS:
                        raise
                    # File systems without links: of two that come at the same moment the later one stays.
                    if path.exists():
                        return False
                    temporary.replace(path)
        except OSError as error:
            raise cannot_write(str(path), error) from error
        return True

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or write it anew."""
        try:
            with _whole(self._path, content) as temporary:
                temporary.replace(self._path / name)
        except OSError as error:
            raise cannot_write(str(self._path / name), error) from error


@contextlib.contextmanager
def _whole(folder: Path, content: bytes) -> Iterator[Path]:
    """A file with all of its content, under a name that nobody can guess; gone at the end unless it was renamed."""
    path = folder / f".clonometer-{os.urandom(12).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


class _FarFolder:
    """A folder behind a URL."""

    def __init__(self, system: Any, path: str, url: str) -> None:
        self._system = system
        self._path = path.rstrip("/")
        self._url = url

    def status_of(self, name: str) -> str | None:
        """The status of the run that has the name."""
        try:
            return check_run(self._system.cat_file(f"{self._path}/{name}"))
        except (RunFileError, OSError):
            return None

    def keep(self, name: str, content: bytes) -> bool:
        """Keep a file that is whole, where no other has the name."""
        try:
            # Object stores write whole files or none; where they can they refuse a name that is taken.
            self._system.pipe_file(f"{self._path}/{name}", content, mode="create")
        except FileExistsError:
            return False
        except OSError as error:
            raise OutputError(f"cannot write {self._url}/{name}: {error}") from error
        return True

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or write it anew."""
        try:
            self._system.pipe_file(f"{self._path}/{name}", content)
        except OSError as error:
            raise OutputError(f"cannot write {self._url}/{name}: {error}") from error
