"""The source of a program that is watched, read as far as it is still what the program was made of."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from pathlib import Path

from clonometer.host.strangers import open_named

_MOST_BYTES = 1 << 20


@lru_cache(maxsize=64)
def read_source(file: str, not_after_ns: int, user: int) -> str | None:
    """Read a file of source; None where it cannot be read, is no text, or has changed since a time (ns since 1970).

    Lines are of no use in a file that has changed since the program was built, or begun by an interpreter. The name is
    the word of ``user``, for whom we open nothing that this user may not read.
    """
    if not Path(file).is_absolute():
        return None
    try:
        descriptor = open_named(file)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if status.st_size > _MOST_BYTES or status.st_mtime_ns > not_after_ns:
            return None
        if user != os.geteuid() and not _may_read(descriptor, status, user):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as content:
            data = content.read(_MOST_BYTES)
    finally:
        os.close(descriptor)
    return None if b"\0" in data else data.decode("utf-8", "replace")


def _may_read(descriptor: int, status: os.stat_result, user: int) -> bool:
    """Whether a user may read an open file, by what its modes allow the owner and everybody; root may."""
    if user == 0:
        return True
    try:
        folders = [folder.stat() for folder in Path(f"/proc/self/fd/{descriptor}").readlink().parents]
    except OSError:
        return False

    def allows(each: os.stat_result, owner: int, everybody: int) -> bool:
        return bool(each.st_mode & (owner if each.st_uid == user else everybody))

    return allows(status, stat.S_IRUSR, stat.S_IROTH) and all(
        allows(each, stat.S_IXUSR, stat.S_IXOTH) for each in folders
    )
