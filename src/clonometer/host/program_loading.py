"""Which variables of the loader a program does not heed, by the headers of its file (elf(5), ld.so(8))."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

_MAGIC = b"\x7fELF"
# By class, 1 of 32 and 2 of 64 bits: where program headers begin, how long each is and how many there are.
_PLACES = {1: ("I", 28, 42), 2: ("Q", 32, 54)}
_ORDERS = {1: "<", 2: ">"}
_INTERPRETER = 3  # PT_INTERP: the loader, which static programs do without
_READ, _MOST_HEADERS = 256, 1 << 12
#: What the loader drops, or restricts to folders of the system, where a program has other rights than who starts it.
_UNSAFE = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GLIBC_TUNABLES")


def unheeded_variables(
    program: Path, variables: Iterable[str], *, is_interpreter: bool = False
) -> tuple[list[str], str] | None:
    """Find the variables that do nothing to a program, and why; None where there is none, or it cannot be known.

    Of a script it is the interpreter that its first line names. A static program of the GNU C library does heed
    ``GLIBC_TUNABLES``.
    """
    names = list(variables)
    try:
        with program.open("rb") as file:
            head = file.read(_READ)
            if head.startswith(b"#!") and not is_interpreter:
                words = head.partition(b"\n")[0][2:].split()
                interpreter = Path(os.fsdecode(words[0])) if words else program
                return unheeded_variables(interpreter, names, is_interpreter=True)
            status = os.fstat(file.fileno())
            is_static = head.startswith(_MAGIC) and _has_no_loader(head, file.fileno())
    except (OSError, IndexError, struct.error):
        return None
    set_user = status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid()
    set_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getegid()
    what = "its interpreter" if is_interpreter else "it"
    if is_static:
        ignored, why = [name for name in names if name.startswith("LD_")], f"{what} is linked statically"
    else:
        ignored, why = [name for name in names if name in _UNSAFE], f"{what} is set-uid or set-gid"
    return (ignored, why) if ignored and (is_static or set_user or set_group) else None


def _has_no_loader(head: bytes, descriptor: int) -> bool:
    """Whether no program header of an ELF file names a loader, though it has some."""
    order = _ORDERS.get(head[5], "<")
    word, place, sizes = _PLACES.get(head[4], _PLACES[2])
    (begin,) = struct.unpack_from(order + word, head, place)
    size, count = struct.unpack_from(f"{order}HH", head, sizes)
    if not 0 < count <= _MOST_HEADERS or size < struct.calcsize("I"):
        return False
    headers = os.pread(descriptor, size * count, begin)
    kinds = [struct.unpack_from(f"{order}I", headers, size * number)[0] for number in range(count)]
    return _INTERPRETER not in kinds
