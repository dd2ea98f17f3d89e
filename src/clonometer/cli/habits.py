"""Options of other tools that hands type by habit, and what is meant here."""

from __future__ import annotations

from collections.abc import Collection

_HOW_OFTEN = (
    "it measures until the intervals are narrow (--target-width 2%) or the time is over (--budget 30s)",
    "--budget",
)
_AS_JSON = ("--json prints the answer as JSON: --json > FILE", "--json")
_AS_TABLE = ("'clonometer export RUN --format csv' writes tables: csv, markdown and others", "")
_WARM = ("cold and warm launches are always reported separately; only warm ones: --set temperature=warm", "--set")
_VERSION = ("the version: clonometer --version", "")
#: Option -> what to say, and the option that the command must have for it to be true.
_MEANT = {
    "--runs": _HOW_OFTEN,
    "-r": _HOW_OFTEN,
    "-n": _HOW_OFTEN,
    "-N": _HOW_OFTEN,
    "--min-runs": _HOW_OFTEN,
    "--max-runs": _HOW_OFTEN,
    "--repeat": _HOW_OFTEN,
    "--iterations": _HOW_OFTEN,
    "--loops": _HOW_OFTEN,
    "--samples": _HOW_OFTEN,
    "--time": ("how long to measure: --budget 30s", "--budget"),
    "--duration": ("how long to measure: --budget 30s", "--budget"),
    "--timeout": ("how long to measure: --budget 30s; for each process: --driver-timeout 60s", "--driver-timeout"),
    "--export-json": _AS_JSON,
    "--export-csv": _AS_TABLE,
    "--export-markdown": _AS_TABLE,
    "--csv": _AS_TABLE,
    "--warmup": _WARM,
    "-w": _WARM,
    "--output": ("the file: --out FILE", "--out"),
    "-p": ("--plan NAME, or --set AXIS=VALUE", "--plan"),
    "--parameter-list": ("values of an axis: --set AXIS=V1,V2", "--set"),
    "-L": ("values of an axis: --set AXIS=V1,V2", "--set"),
    "--parameter-scan": ("values of an axis: --set AXIS=V1,V2", "--set"),
    "-v": _VERSION,
    "-V": _VERSION,
}


def what_is_meant(option: str, known: Collection[str]) -> str | None:
    """Say what serves here instead of an option of another tool; None where nothing is known.

    Examples
    --------
    >>> what_is_meant("--output", ["--out"])
    'the file: --out FILE'
    """
    sentence, needed = _MEANT.get(option, ("", ""))
    return sentence if sentence and (not needed or needed in known) else None
