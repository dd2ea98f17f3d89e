"""Opening files that strangers name: what a watched program has mapped, or says that it is made of.

Between a look at a name and its opening it may be given to something else, and to open a device acts, and a pipe
waits. So a file is found without being opened (``O_PATH``), and is opened only then, as the very file that was looked
at. ``core/census/strangers.c`` does the same.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from functools import cache
from typing import Any

_OPENAT2 = 437
_NO_MAGIC_LINKS, _IN_ROOT = 2, 16


class _How(ctypes.Structure):
    """``struct open_how`` of openat2(2)."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_named(file: str, root: str = "/") -> int:
    """Open a regular file below a root, which no link leaves, to be read; its descriptor.

    Where openat2 (Linux 5.6) is missing or refused, it is found by its name.

    Raises
    ------
    OSError
        If there is none, or something else has its name.
    ValueError
        If that is no name.
    """
    if "\0" in file:
        raise ValueError(f"{file!r} is no name of a file")
    place = _find(file, root)
    try:
        return open_found(place)
    finally:
        os.close(place)


def open_found(place: int) -> int:
    """Open the regular file that a descriptor of ``O_PATH`` stands for; OSError where it is something else."""
    if not stat.S_ISREG(os.fstat(place).st_mode):
        raise OSError(errno.ESTALE, "not a regular file")
    return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)


def _find(file: str, root: str) -> int:
    folder = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        how = _How(os.O_PATH | os.O_CLOEXEC, 0, _IN_ROOT | _NO_MAGIC_LINKS)
        place = int(_libc().syscall(_OPENAT2, folder, os.fsencode(file), ctypes.byref(how), ctypes.sizeof(how)))
        error = ctypes.get_errno()
    finally:
        os.close(folder)
    if place >= 0:
        return place
    if error not in {errno.ENOSYS, errno.EPERM}:
        raise OSError(error, os.strerror(error), file)
    return os.open(f"{root.rstrip('/')}{file}", os.O_PATH | os.O_CLOEXEC)


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
