"""Writes docs/cases: a page for each case, and the list of all."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from publications.cases.case import Case

from clonometer.units import format_duration
from clonometer.words import counted

_S, _BUSY, _WIDTH = 1e9, 0.5, 128
_MADE = {"thread": "as threads", "container": "in new namespaces", "shares memory": "sharing memory"}


def index(listed: Sequence[tuple[Case, Mapping[str, Any]]], machine: str, skipped: Sequence[str]) -> str:
    """The list of cases with what each paid, before and after."""
    rows = [
        f"| [{case.title}]({case.name}.md) | {case.program} | {_time(result['before'])} | {_time(result['after'])} "
        f"| {_times(result)} |\n"
        for case, result in listed
    ]
    return (
        "# Cases\n\n"
        f"{counted(len(listed), 'real program')}: what their launches cost, why, the mend, and what it brings.\n"
        f"Measured on {machine}; yours will differ. `make cases` measures all of this again\n"
        "(a case is a file in `publications/cases/data`). Times are medians; the last column is how many times faster\n"
        "the mend makes it, with its 95% interval, from pairs of runs in turn.\n\n"
        "| case | program | before | after | times faster |\n|---|---|---|---|---|\n"
        + "".join(rows)
        + ("\n" + "".join(f"- {sentence}\n" for sentence in skipped) if skipped else "")
    )


def page(case: Case, result: Mapping[str, Any], machine: str) -> str:
    """One case."""
    parts = [
        f"# {case.title}\n",
        _answer(case, result),
        _table(result),
        _wrapped(f"**Why.** {case.why}"),
        *_seen(result),
        _wrapped(f"**The mend.** {case.mend}"),
        _wrapped(f"**What one loses.** {case.lose}"),
        *([f"Asked in {case.asked}.\n"] if case.asked else []),
        _how(result, machine),
        f"## Before\n\n    {_command(case.before)}\n",
        *(_file(name, text) for name, text in case.files.items() if not name.startswith("after")),
        f"## After\n\n    {_command(case.after)}\n",
        *(_file(name, text) for name, text in case.files.items() if name.startswith("after")),
    ]
    return "\n".join(parts)


def _answer(case: Case, result: Mapping[str, Any]) -> str:
    """What the mend brings: a sentence that anybody can check."""
    pairs, faster = len(result["pairs"]), result["after_faster"]
    what = case.quantity[0].upper() + case.quantity[1:]
    return (
        f"{what}: {_time(result['before'])} before, {_time(result['after'])} after.\n"
        f"In {faster} of {counted(pairs, 'pair')} it was faster with the mend, {_times(result)} times at the median.\n"
    )


def _time(ends_s: Sequence[float]) -> str:
    return format_duration(ends_s[0] * _S)


def _times(result: Mapping[str, Any]) -> str:
    value, low, high = result["faster"]
    return f"{value:.3g} ({low:.3g} to {high:.3g})"


def _table(result: Mapping[str, Any]) -> str:
    """What the census saw of each side."""
    rows = []
    for side in ("before", "after"):
        census, median = result["census"][side], result[side]
        ways = [_way(way) for way in census["creators"]]
        took = f"{_time(median)} ({format_duration(median[1] * _S)} to {format_duration(median[2] * _S)})"
        creating = format_duration(census["creating_ns"]) if census["creating_ns"] is not None else "-"
        rows.append(f"| {side} | {took} | {census['tasks_created']:,} | {'; '.join(ways) or '-'} | {creating} |\n")
    return "| | median | tasks | created | creating and exec |\n|---|---|---|---|---|\n" + "".join(rows)


def _way(way: Mapping[str, Any]) -> str:
    made = _MADE.get(way["mechanism"], f"by {way['mechanism']}").replace("|", "\\|")
    each = f", {format_duration(way['making_ns'])} each" if way["making_ns"] is not None else ""
    return f"{way['created']:,} {made}{each}"


def _seen(result: Mapping[str, Any]) -> Iterator[str]:
    """What `census` says by itself of the launches that cost most."""
    first = next(iter(result["census"]["before"]["launches"]), None)
    if first is None or first["title"] is None:
        return
    place = f" at `{PurePath(first['file']).name}:{first['line']}`" if first["file"] and first["line"] else ""
    yield _wrapped(
        f"`clonometer census` names `{first['title']}`{place}: {counted(first['created'], 'task')} by "
        f"{first['mechanism']}, {format_duration(first['cost_ns'])} in all."
    )


def _command(words: Sequence[str]) -> str:
    return shlex.join("python3" if word == "{python}" else word for word in words)


def _how(result: Mapping[str, Any], machine: str) -> str:
    load, cpus = result["load"], result["cpus"]
    busy = (
        f"Other programs used the CPUs meanwhile (load {load:.1f} on {counted(cpus, 'CPU')}): times are too long, and "
        "the ratio of pairs is what counts."
        if load > _BUSY * cpus
        else f"The machine was quiet (load {load:.1f} on {counted(cpus, 'CPU')})."
    )
    return _wrapped(f"{result['version']}; {machine}. {counted(len(result['pairs']), 'pair')} in turn. {busy}")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False) + "\n"


def _file(name: str, text: str) -> str:
    return f"`{name}`:\n\n" + "".join(f"    {line}\n" if line else "\n" for line in text.strip("\n").split("\n"))
