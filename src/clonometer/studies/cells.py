"""Cells of the studies by what they vary: the canonical texts in one place."""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.units import parse_bytes
from clonometer.words import axis_words, cell_parts, cell_text, until

_WHOLES = {"wall_ns": "in wall time", "whole_ns": "for the whole work"}


def cell(workload: str, **axes: str) -> str:
    """Write the canonical text of a cell; axes at their default must not be named.

    Examples
    --------
    >>> cell("launch.fork", temperature="warm", placement="free")
    'launch.fork[placement=free,temperature=warm]'
    """
    return cell_text(workload, (f"{name}={value}" for name, value in sorted(axes.items())))


def axes_of(text: str) -> tuple[str, dict[str, str]]:
    """Take a cell's text apart: the workload, and the axes off their default as texts.

    Examples
    --------
    >>> axes_of("launch.fork[placement=free,temperature=warm]")
    ('launch.fork', {'placement': 'free', 'temperature': 'warm'})
    """
    workload, parts = cell_parts(text)
    return workload, dict(part.split("=", 1) for part in parts)


def parent_bytes(text: str) -> int:
    """The parent's memory in a cell's condition, in bytes."""
    return parse_bytes(axes_of(text)[1].get("parent_bytes", "0"))


def without_memory(text: str) -> str:
    """The same cell with no memory in the parent."""
    workload, axes = axes_of(text)
    axes.pop("parent_bytes", None)
    return cell(workload, **axes)


def with_axes(text: str, **axes: str) -> str:
    """The same cell with further axes.

    Examples
    --------
    >>> with_axes("launch.fork[temperature=cold]", page_kind="untouched")
    'launch.fork[page_kind=untouched,temperature=cold]'
    """
    workload, present = axes_of(text)
    return cell(workload, **{**present, **axes})


# The studies' own conditions.
#: malloc of 1e9 ints.
FOUR_GB = "3906250KiB"
SYSEL = {"linkage": "dynamic_now", "placement": "free"}
LAZY = {"linkage": "dynamic_lazy", "placement": "free"}


def sysel_fork(temperature: str, **axes: str) -> str:
    """Fork as Sysel's programs call it."""
    return cell("launch.fork", **SYSEL, process_ending="exit", temperature=temperature, **axes)


def sysel_thread(temperature: str, **axes: str) -> str:
    """pthread_create as Sysel's programs call it."""
    return cell("launch.pthread", **SYSEL, temperature=temperature, **axes)


def heap(workload: str, memory: str, **axes: str) -> str:
    """A launch with a heap that was written once, as Bendersky's program has it."""
    return cell(workload, **LAZY, pages="clean", parent_bytes=memory, temperature="warm", **axes)


LOOP_FORK = cell("launch.fork", **LAZY, temperature="warm")
LOOP_THREAD = cell("launch.pthread", **LAZY, temperature="warm", thread_ending="pthread_exit")


def quantity_words(quantity: str) -> str:
    """Say what a ratio compares: launches until a stage, or whole programs.

    Examples
    --------
    >>> quantity_words("task_runs_ns"), quantity_words("wall_ns")
    ('until the task runs', 'in wall time')
    """
    return _WHOLES.get(quantity) or until(quantity.removesuffix("_ns"))


def condition_words(condition: Mapping[str, str]) -> str:
    """Say a condition of a pair.

    Examples
    --------
    >>> condition_words({"temperature": "cold", "mlockall": "yes", "linkage": "musl"})
    'cold, musl, mlockall'
    """
    words = [condition["temperature"]] if "temperature" in condition else []
    for name, value in sorted(condition.items()):
        if name == "temperature":
            continue
        if name.endswith("_bytes"):
            size = axis_words(name, parse_bytes(value))
            words.append(f"{size}{' in the parent' if name == 'parent_bytes' else ''}")
        else:
            words.append(axis_words(name, int(value) if value.isdigit() else value))
    return ", ".join(words) or "by default"
