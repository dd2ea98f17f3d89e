"""Names that people write: a workload by its last word, where one bears it, and globs that cells must match."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clonometer.errors import UsageError, unknown
from clonometer.plan.cell import matches
from clonometer.plan.shipped import plan_names
from clonometer.words import mechanism_name


def is_glob(name: str) -> bool:
    """Whether a name has wild characters."""
    return "*" in name or "?" in name


def full_name(name: str, workloads: Collection[str], kind: str = "workload") -> str:
    """Find the workload that a name stands for: an id, or the last word of one where no other ends in it.

    Where several do, a name means the one that is called so in tables (`clonometer.words.mechanism_name`).

    Raises
    ------
    UsageError
        If no workload bears the name, with the nearest, or several do, with each.

    Examples
    --------
    >>> full_name("fork", ["launch.fork", "launch.fork_exec", "serve.fork", "wake.pipe", "ipc.pipe"])
    'launch.fork'
    >>> full_name("pipe", ["launch.fork", "wake.pipe", "ipc.pipe"])
    Traceback (most recent call last):
    clonometer.errors.UsageError: 'pipe' may be ipc.pipe or wake.pipe
    """
    workload = _bearing(name, workloads)
    if workload:
        return workload
    if name in plan_names():
        raise UsageError(f"{name} is a plan, not a {kind}", f"clonometer run --plan {name}")
    raise unknown(kind, name, workloads)


def full_globs(globs: Iterable[str], cells: Collection[str], whose: str = "") -> list[str]:
    """Read what an option for cells was given: each glob must match a cell, and a plain name becomes a workload's id.

    Globs are of a cell's text or of its workload (`clonometer.plan.cell.matches`). ``whose`` says in the error what
    has these cells, such as `` of the plan quick``.

    Raises
    ------
    UsageError
        If one matches nothing, with the nearest, or several workloads bear its name, with each.

    Examples
    --------
    >>> full_globs(["fork", "launch.p*"], ["launch.fork[temperature=warm]", "launch.pthread"])
    ['launch.fork', 'launch.p*']
    """
    workloads = sorted({cell.partition("[")[0] for cell in cells})
    read = []
    for glob in globs:
        workload, bracket, rest = glob.partition("[")
        full = glob if is_glob(workload) else f"{_bearing(workload, workloads) or workload}{bracket}{rest}"
        if not any(matches(cell, [full]) for cell in cells):
            raise unknown(f"cell{whose}", glob, cells if bracket else workloads)
        read.append(full)
    return read


def chosen_cells(globs: Iterable[str], cells: Collection[str], whose: str = "") -> list[str]:
    """Choose the cells that match any of the globs of an option, as `full_globs` reads it; without a glob all."""
    chosen = full_globs(globs, cells, whose)
    return [cell for cell in cells if not chosen or matches(cell, chosen)]


def _bearing(name: str, workloads: Collection[str]) -> str | None:
    if name in workloads:
        return name
    bearers = sorted(workload for workload in workloads if workload.endswith(f".{name}"))
    called_so = [workload for workload in bearers if mechanism_name(workload) == name]
    bearers = called_so or bearers
    if len(bearers) > 1:
        raise UsageError(f"{name!r} may be {', '.join(bearers[:-1])} or {bearers[-1]}", "write it in full")
    return bearers[0] if bearers else None
