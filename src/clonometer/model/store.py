"""The calibration in the user's data folder (``$XDG_DATA_HOME``, by default ``~/.local/share``)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from clonometer.errors import InputError, MissingFileError, OutputError
from clonometer.files import writing
from clonometer.inputs import InputKind, check_schema, naming, read_json
from clonometer.model.calibration import CALIBRATION_SCHEMA, Calibration
from clonometer.model.terms import LINEAR
from clonometer.records import from_json, to_json
from clonometer.user_cache import user_folder

NAME = "calibration.json"
#: A calibration older than this is used, and named as old: firmware, memory and neighbours change.
OLD_AFTER_DAYS = 30.0
_DAY_S = 86_400.0
_AGAIN = "run 'clonometer calibrate'"
_CALIBRATION = InputKind("a calibration", 4 << 20, f"remove it and {_AGAIN}")
#: The facts on which the cost of a fork rests and which no reference scan can put right.
MACHINE_FACTS = (
    "cpu.arch",
    "cpu.model",
    "cpu.microcode",
    "cpu.online",
    "kernel.release",
    "memory.total_bytes",
    "mitigations.summary",
    "virt.hypervisor",
)


def machine_of(facts: Mapping[str, object]) -> dict[str, str]:
    """Take from host facts those for which a calibration holds."""
    return {key: "unknown" if facts.get(key) is None else str(facts[key]) for key in MACHINE_FACTS}


def default_path() -> Path:
    """Name the file in which this user's calibration is kept.

    Raises
    ------
    OutputError
        If this user has no data folder that is safe.
    """
    folder = user_folder("XDG_DATA_HOME", ".local/share")
    if folder is None:
        raise OutputError(
            "this user has no data folder that only the user can write to",
            "set XDG_DATA_HOME to a folder that you own, or name a file",
        )
    return folder / NAME


def save_calibration(calibration: Calibration, path: Path) -> None:
    """Write a calibration, whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    save_record(calibration, path)


def save_record(record: object, path: Path) -> None:
    """Write a record as JSON on one line, whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    content = json.dumps(to_json(record), separators=(",", ":"), allow_nan=False) + "\n"
    try:
        with writing(path) as new:
            new.file.write(content.encode("utf-8"))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


def read_calibration(path: Path) -> Calibration | None:
    """Read a calibration; None where there is no such file.

    Raises
    ------
    InputError
        If the file is damaged, is no calibration, or was written by an earlier Clonometer.
    """
    try:
        parsed = read_json(path, _CALIBRATION)
    except MissingFileError:
        return None
    version = parsed.get("schema") if isinstance(parsed, dict) else None
    if type(version) is int and 0 < version < CALIBRATION_SCHEMA:
        raise InputError(
            f"{path} was written by an earlier Clonometer: it lacks data that predictions now need",
            f"{_AGAIN} (two minutes; --quick: 20 s), which replaces it",
        )
    with naming(path, _CALIBRATION):
        return _calibration_of(parsed)


def _calibration_of(parsed: object) -> Calibration:
    check_schema(parsed, CALIBRATION_SCHEMA)
    calibration = from_json(Calibration, parsed)
    for name, model in calibration.models.items():
        if unknown := [term for term in model.terms if term not in LINEAR]:
            raise InputError(f"models.{name[:60]} has an unknown term {unknown[0][:60]!r}")
    return calibration


def check_machine(calibration: Calibration, machine: Mapping[str, str]) -> None:
    """Refuse a calibration of another machine, or of this one before it changed.

    Raises
    ------
    InputError
        With the facts that differ.
    """
    differ = [
        f"{key} was {calibration.machine.get(key, 'unknown')} and is {value}"
        for key, value in machine.items()
        if calibration.machine.get(key, "unknown") != value
    ]
    if differ:
        raise InputError(f"the calibration does not match this machine as it is now: {'; '.join(differ)}", _AGAIN)


def age_days(calibration: Calibration, now_s: float | None = None) -> float:
    """Say how old a calibration is; 0 where the clock was set back."""
    now = time.time() if now_s is None else now_s
    return max(0.0, (now - calibration.made_at) / _DAY_S)


def is_old(calibration: Calibration, now_s: float | None = None) -> bool:
    """Whether a calibration is so old that its age should be named."""
    return age_days(calibration, now_s) > OLD_AFTER_DAYS
