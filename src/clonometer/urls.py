"""Folders behind URLs, by fsspec: ``s3://``, ``gs://``, ``sftp://`` and whatever else is installed for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clonometer.errors import ClonometerError, UsageError

_FILE = "file://"
# The next step, by the name of an error: those of a package that may not be here have no class to name.
_HINTS = {
    "NoCredentialsError": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials",
    "PermissionError": "another account's credentials may be needed: AWS_PROFILE names those of S3",
    "EndpointConnectionError": "is the server there? AWS_ENDPOINT_URL names one that is not Amazon's",
    "FileNotFoundError": "correct the name, or make the bucket first: none is made here",
}


def path_or_url(text: str) -> Path | str:
    """Tell a path (``file://`` too) from the URL of another file system, which stays a text.

    Examples
    --------
    >>> path_or_url("file:///runs"), path_or_url("s3://bucket/runs/")
    (PosixPath('/runs'), 's3://bucket/runs')
    """
    bare = text.removeprefix(_FILE)
    return text.rstrip("/") if "://" in bare else Path(bare)


def open_url(url: str) -> tuple[Any, str]:
    """Open the file system of a URL, an ``fsspec.AbstractFileSystem``; gives it, and the path of the URL in it.

    Raises
    ------
    UsageError
        If fsspec, or what it needs for this kind of URL, is not installed.
    """
    try:
        import fsspec

        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"cannot open {url}: {error}", "pip install 'clonometer[s3]' for s3://, or what fsspec names for others"
        ) from None
    return system, path.rstrip("/")


@contextmanager
def reaching(what: str, kind: type[ClonometerError]) -> Iterator[None]:
    """Make an error of ours of whatever the packages that reach a URL raise, ``FileExistsError`` apart."""
    try:
        yield
    except (ClonometerError, FileExistsError):
        raise
    except Exception as error:
        # Each of these packages has errors of its own: no base but Exception is common to all.
        hint = next((_HINTS[each.__name__] for each in type(error).__mro__ if each.__name__ in _HINTS), None)
        raise kind(f"{what}: {str(error) or type(error).__name__}", hint) from error
