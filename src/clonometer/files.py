"""Files that are written: whole or not at all, under names that nobody can guess, never through a link, by one run.

In a folder that others may write to, whoever guesses the name of a file that root is about to make can have a link wait
there for it. New files are therefore made with ``O_EXCL`` and ``O_NOFOLLOW``, and take their name by rename, which
replaces a link and not what it points to.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from clonometer.errors import InputError, NoRoomError, OutputError
from clonometer.inputs import open_input

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Of a pipe that stands there by mistake nobody need wait for the other end.
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# The umask takes from it what it takes from every new file.
_MODE = 0o666
_OWNERS = stat.S_IRUSR | stat.S_IWUSR
_NO_LOCKS_HERE = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
#: The next step where there is no room.
MAKE_ROOM = "free some space, or write to another disk with --out"
# Others may make and remove the name at the same moment; one that still stands there then is theirs.
_ATTEMPTS = 10


@dataclass(frozen=True)
class NewFile:
    """A file that is being written, and the name that it has until it is whole."""

    file: BinaryIO
    temporary: Path


@contextmanager
def writing(path: Path, *, durable: bool = False) -> Iterator[NewFile]:
    """Write a file whole or not at all: under another name in the same folder first, then by rename.

    What has the name is replaced, a link itself and not its target. ``durable``: wait until the disk has it. If the
    block ends with an exception nothing is left behind.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with temporary_file(path.parent) as new:
        yield new
        new.file.flush()
        if durable:
            os.fsync(new.file.fileno())
        # Some file systems say only now that there is no room.
        new.file.close()
        new.temporary.replace(path)
    if durable:
        sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: under another name first, then by rename.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write_pieces(path, [text])


def write_pieces(path: Path, pieces: Iterable[bytes | str]) -> None:
    """Write a file piece by piece, as `write_text` does."""
    try:
        with writing(path) as new:
            new.file.writelines(piece.encode("utf-8") if isinstance(piece, str) else piece for piece in pieces)
    except OSError as error:
        raise cannot_write(str(path), error) from error


@contextmanager
def temporary_file(folder: Path) -> Iterator[NewFile]:
    """Make a file under a name that nobody can guess; it is gone at the end unless it was renamed."""
    temporary = folder / f".clonometer-{os.urandom(12).hex()}.tmp"
    # It is made within the block: an interrupt may come before its number has been stored.
    try:
        with open(temporary, "xb", opener=_make_new) as file:
            yield NewFile(file, temporary)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _make_new(name: str | Path, flags: int) -> int:
    descriptor = os.open(name, _NEW, _MODE)
    mode = os.fstat(descriptor).st_mode
    if mode & _OWNERS != _OWNERS:
        # A umask may take more than others' permissions: but what was measured could not be read, nor recovered.
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(mode) | _OWNERS)
    return descriptor


def reserve(path: Path, *, replace: bool = False, aside: Path | None = None) -> int:
    """Make a file that grows while others may look at it, and lock it for as long as it is open.

    What has the name is removed with ``replace``, a link itself and not its target, or renamed to ``aside`` instead.
    Gives the descriptor, to read and to write.

    Raises
    ------
    OutputError
        If another process has reserved it: nothing of that one's is touched.
    FileExistsError
        If there is a file and neither ``replace`` nor ``aside`` is set.
    OSError
        If it cannot be made.
    """
    for _ in range(_ATTEMPTS):
        try:
            descriptor = _make_new(path, _NEW)
        except FileExistsError:
            if not replace and aside is None:
                refuse_if_reserved(path)
                raise
            take_away(path, aside)
            continue
        # Until it is locked another may take it for what a killed run left, and remove it: that one then has a lock for
        # a moment.
        _lock(descriptor, fcntl.LOCK_EX, wait=True)
        if _is_named(descriptor, path):
            return descriptor
        os.close(descriptor)
    raise _reserved(path)


def reserve_left(path: Path) -> int | None:
    """Lock a file that a process had reserved which has ended; None where it lives, or the file is gone.

    Gives the descriptor, to read and to write.

    Raises
    ------
    OSError
        If it is a link, or cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    if _lock(descriptor, fcntl.LOCK_EX) and _is_named(descriptor, path):
        return descriptor
    os.close(descriptor)
    return None


def take_away(path: Path, aside: Path | None = None) -> bool:
    """Remove a file, a link itself and not its target, unless a process has reserved it.

    With ``aside`` it is renamed to that, which replaces what has the name.

    Raises
    ------
    OutputError
        If a process has reserved it, or what would be replaced.
    OSError
        If it is no regular file and no link, or cannot be removed or renamed.
    """
    if aside is not None:
        refuse_if_reserved(aside)
    try:
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            # A device or a folder is no file of ours, whoever named it.
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        descriptor = os.open(path, _OLD) if stat.S_ISREG(mode) else None
    except FileNotFoundError:
        return False
    try:
        if descriptor is not None:
            if not _lock(descriptor, fcntl.LOCK_EX):
                raise _reserved(path)
            # The one that was locked may have ended meanwhile, and another have made a new one.
            if not _is_named(descriptor, path):
                return False
        if aside is None:
            path.unlink()
        else:
            path.replace(aside)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True


def refuse_if_reserved(path: Path) -> None:
    """Raise OutputError if a process has reserved the file; what is not there or cannot be read is not reserved."""
    try:
        descriptor = os.open(path, _OLD)
    except OSError:
        return
    try:
        if not _lock(descriptor, fcntl.LOCK_SH):
            raise _reserved(path)
    finally:
        os.close(descriptor)


@contextmanager
def reading_unreserved(path: Path) -> Iterator[None]:
    """Keep a file from being reserved while it is read.

    Raises
    ------
    InputError
        If a process has reserved it: it still grows.
    """
    with open_input(path) as file:
        if not _lock(file.fileno(), fcntl.LOCK_SH):
            raise InputError(
                f"{path} is being written by a run that is still measuring", "wait until that run has finished"
            )
        yield


def link_target(path: Path) -> str | None:
    """What a link points to; None for what is no link, or is not there."""
    try:
        return str(path.readlink()) if path.is_symlink() else None
    except (OSError, ValueError):
        return None


def is_no_room(error: OSError) -> bool:
    """Whether a write failed because the disk, the quota or the largest size of a file is used up."""
    return error.errno in _NO_ROOM


def already_there(path: Path) -> OutputError:
    """Build the error for an output whose name is taken: nothing that destroys a file is advised."""
    return OutputError(f"{path} exists", "name another file, or move this one")


def cannot_write(what: str, error: OSError) -> OutputError:
    """Build the error for what could not be written, such as a path: what, why, and where it helps, the next step."""
    message = f"cannot write {what}: {why_not_written(error)}"
    if is_no_room(error):
        return NoRoomError(message, how_to_make_room(error))
    return OutputError(message, "choose another place with --out" if error.errno in _NOT_ALLOWED else None)


def why_not_written(error: OSError) -> str:
    """Say in a few words why a write failed."""
    if error.errno == errno.EFBIG:
        return "a file may grow no further (ulimit -f)"
    return "no room on disk" if is_no_room(error) else (error.strerror or str(error))


def how_to_make_room(error: OSError) -> str:
    """Say what helps against the lack that `is_no_room` is about."""
    return "raise the limit: ulimit -f unlimited" if error.errno == errno.EFBIG else MAKE_ROOM


def _lock(descriptor: int, kind: int, *, wait: bool = False) -> bool:
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        # Some file systems of networks and of user space have no locks: runs there must be kept apart by their names.
        if error.errno not in _NO_LOCKS_HERE:
            raise
    return True


def _is_named(descriptor: int, path: Path) -> bool:
    """Whether the name still is that of the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _reserved(path: Path) -> OutputError:
    return OutputError(
        f"{path} is being written by another run of clonometer", "wait until that has ended, or name another file"
    )


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
