"""The plans that come with Clonometer: their names, and where they lie."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from clonometer.errors import InputError, PlanError, UsageError, unknown
from clonometer.inputs import InputKind, cannot_read, read_text

#: Ends the name of a plan's quick form.
QUICK = "-quick"
_PLAN = InputKind("a plan", 256 << 10)
_QUICK_TABLE = "\n[quick]\n"


def plan_names() -> list[str]:
    """Names of the plans that come with Clonometer, sorted; of a plan with a quick form ``NAME-quick`` too.

    Examples
    --------
    >>> {"default", "memory", "memory-quick"} <= set(plan_names())
    True
    """
    return list(_plan_names())


@cache
def _plan_names() -> tuple[str, ...]:
    # They are asked for each name that is looked up, and stay as they are.
    names = [path.name.removesuffix(".toml") for path in _shipped().iterdir() if path.name.endswith(".toml")]
    # By the text: to parse all plans would take 40 ms of every command.
    quick = [f"{name}{QUICK}" for name in names if _QUICK_TABLE in file_text(_shipped() / f"{name}.toml")]
    return tuple(sorted([*names, *quick]))


def plan_place(name: str) -> str:
    """Where the file of a plan lies that comes with Clonometer; that of ``NAME-quick`` is NAME's.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    return str(shipped_path(name)[0])


def shipped_path(name: str) -> tuple[resources.abc.Traversable, bool]:
    """The file of a plan, and whether its quick form is meant.

    Raises
    ------
    UsageError
        If there is none of that name, with the nearest.
    """
    if name not in plan_names():
        error = unknown("plan", name, plan_names())
        is_file = Path(name).is_file()
        if Path(name).suffix and not is_file:
            _, near = cannot_read(Path(name).with_suffix(".toml"), FileNotFoundError())
            raise UsageError(f"there is no file {name}, and no plan of that name", near or error.hint)
        raise UsageError(error.message, f"a file of that name exists: write ./{name}" if is_file else error.hint)
    whole = name.removesuffix(QUICK)
    return _shipped() / f"{whole}.toml", whole != name


def _shipped() -> resources.abc.Traversable:
    return resources.files("clonometer.plan") / "plans"


def file_text(path: Path | resources.abc.Traversable) -> str:
    """Read a plan's file.

    Raises
    ------
    PlanError
        If it cannot be read, or is not UTF-8 text.
    """
    try:
        return read_text(Path(str(path)), _PLAN)
    except InputError as error:
        raise PlanError(
            error.message, error.hint or "'clonometer list' names the plans that come with clonometer"
        ) from None
