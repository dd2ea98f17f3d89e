"""Reserves some huge pages for as long as something is measured with them, and gives them back. Root only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from clonometer.errors import OutputError
from clonometer.runner.settings import read_setting, save, switched

COUNT = 16
MOST_BYTES = 64 << 20
_PATIENCE_S = 5.0


class NotReservedError(Exception):
    """Why huge pages cannot be reserved here."""


@contextlib.contextmanager
def reserved(count: int = COUNT, root: Path = Path("/")) -> Iterator[int]:
    """Reserve ``count`` free huge pages of the default size more than there are.

    Yields
    ------
    int
        How many are free.

    Raises
    ------
    NotReservedError
        If that is not permitted, there is no memory for them, or a huge page is larger than some MiB; nothing is
        changed then.
    """
    setting = root / "proc/sys/vm/nr_hugepages"
    page_bytes = _meminfo(root, "Hugepagesize:") * 1024
    if not page_bytes:
        raise NotReservedError("this kernel has no reserved huge pages")
    if count * page_bytes > MOST_BYTES:
        raise NotReservedError(f"{count} huge pages of {page_bytes >> 20} MiB are too much to take from this machine")
    try:
        before = int(setting.read_text())
        name = str(setting)
        saved = save(f"{before + count} in {name}", f"echo {before} > {name}", {name: read_setting(name)})
        try:
            setting.write_text(str(before + count))
        except OSError:
            saved.remove()
            raise
    except OutputError as error:
        raise NotReservedError(error.message) from error
    except OSError as error:
        raise NotReservedError(f"{setting}: {error.strerror}") from error
    try:
        saved.add(switched({name: read_setting(name)}))
        free = _meminfo(root, "HugePages_Free:") - _meminfo(root, "HugePages_Rsvd:")
        if free < count:
            raise NotReservedError(f"only {free} of {count} huge pages could be made: memory is in pieces or full")
        yield free
    finally:
        _restore(setting, before)
        saved.remove()


def _restore(setting: Path, before: int) -> None:
    # A page that is still in use by a process that is just ending is given back a moment later.
    limit_s = time.monotonic() + _PATIENCE_S
    setting.write_text(str(before))
    while int(setting.read_text()) != before and time.monotonic() < limit_s:
        time.sleep(0.05)
        setting.write_text(str(before))


def _meminfo(root: Path, key: str) -> int:
    for line in (root / "proc/meminfo").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    return 0
