"""Options of other tools that hands type by habit, and what is meant here."""

from __future__ import annotations

from collections.abc import Collection

_HOW_OFTEN = (
    "it measures until the intervals are narrow (--target-width 2%) or time runs out (--budget 30s)",
    "--budget",
)
_AS_TABLE = ("'clonometer export RUN --format csv' writes tables: csv, markdown and others", "")
_WARM = ("cold and warm launches are always reported separately; only warm ones: --set temperature=warm", "--set")
#: Option -> what to say, and the option that the command must have for it to be true.
_MEANT = {
    **dict.fromkeys(("--runs", "--min-runs", "--max-runs", "-r", "-n", "-N"), _HOW_OFTEN),
    **dict.fromkeys(("--repeat", "--iterations", "--loops", "--samples"), _HOW_OFTEN),
    **dict.fromkeys(("--time", "--duration"), ("how long to measure: --budget 30s", "--budget")),
    "--timeout": ("how long to measure: --budget 30s; for each process: --driver-timeout 60s", "--driver-timeout"),
    "--export-json": ("--json prints the answer as JSON: --json > FILE", "--json"),
    **dict.fromkeys(("--export-csv", "--export-markdown", "--csv"), _AS_TABLE),
    **dict.fromkeys(("--warmup", "-w"), _WARM),
    **dict.fromkeys(("--all", "-a", "--full", "--verbose"), ("--wide shows everything", "--wide")),
    "--baseline": ("name both runs: clonometer compare BEFORE AFTER; check has --baseline", "--cells"),
    "--budget": ("--rounds N sets how long", "--rounds"),
    "-f": ("--format FORMAT; to replace a file: --force", "--format"),
    "--output": ("the file: --out FILE", "--out"),
    "-p": ("--plan NAME, or --set AXIS=VALUE", "--plan"),
    **dict.fromkeys(("--parameter-list", "--parameter-scan", "-L"), ("values of an axis: --set AXIS=V1,V2", "--set")),
    **dict.fromkeys(("-v", "-V"), ("the version: clonometer --version", "")),
}


def command_is_meant(word: str) -> str | None:
    """Give the command line that a word which is no command may stand for; None where nothing is known.

    Examples
    --------
    >>> command_is_meant("quick"), command_is_meant("nothing-like-it")
    ('clonometer run --plan quick', None)
    """
    import shlex
    import shutil
    from pathlib import Path

    from clonometer.plan.shipped import plan_names

    if word in plan_names():
        return f"clonometer run --plan {word}"
    if _is_workload(word):
        return f"clonometer run {word}"
    if word.endswith(".parquet") and Path(word).is_file():
        return f"clonometer show {shlex.quote(word)}"
    return f"clonometer census -- {shlex.quote(word)}" if shutil.which(word) else None


def _is_workload(word: str) -> bool:
    from clonometer.app.measuring import find_catalogue
    from clonometer.errors import ClonometerError
    from clonometer.plan.names import full_name

    try:
        full_name(word, find_catalogue()[1].workloads)
    except ClonometerError:
        return False
    return True


def suggest_option(option: str, known: Collection[str]) -> str | None:
    """Say what serves here instead of an option of another tool; None where nothing is known.

    Examples
    --------
    >>> suggest_option("--output", ["--out"])
    'the file: --out FILE'
    """
    sentence, needed = _MEANT.get(option, ("", ""))
    return sentence if sentence and (not needed or needed in known) else None
