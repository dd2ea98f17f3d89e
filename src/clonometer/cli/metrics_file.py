"""Files of metrics, which a collector reads again and again, and which are replaced each time."""

from __future__ import annotations

from pathlib import Path

from clonometer.errors import InputError, OutputError
from clonometer.inputs import open_input

_NONE = b"# EOF\n"


def check_metrics_file(path: Path, heading: str, *, force: bool) -> None:
    """Refuse to replace a file that an earlier call of the same command did not write.

    Raises
    ------
    OutputError
        If there is one that does not begin with ``heading``.
    """
    if path.exists() and not force and not _begins(path, heading.encode()):
        raise OutputError(f"{path} exists", "choose another name, or --force to replace it")


def _begins(path: Path, heading: bytes) -> bool:
    try:
        with open_input(path) as file:
            return file.read(len(heading)) in (heading, _NONE)
    except (InputError, OSError):
        return False
