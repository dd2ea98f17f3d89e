"""Plan files: finding and reading the TOML of docs/plan.md."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from clonometer.errors import InputError, PlanError, UsageError, unknown
from clonometer.fields import shown
from clonometer.inputs import parse_toml
from clonometer.plan.expand import Entry, expand
from clonometer.plan.limits import read_limits
from clonometer.plan.shipped import QUICK, file_text, shipped_path
from clonometer.plan.types import TARGET_WIDTH, Catalogue, Limits, Plan
from clonometer.units import parse_share

PLAN_SCHEMA = 1
DEFAULT_BUDGET_SECONDS = 60.0

_QUICK_KEYS = ("title", "budget_seconds", "target_width", "temperature", "limits", "set", "cells")
_TOP_KEYS = ("schema", "name", *_QUICK_KEYS, "quick")
_ENTRY_KEYS = ("workloads", "family", "temperature", "set", "limits", "quick")


def plan_title(name: str) -> str:
    """Title of a plan that comes with Clonometer.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    path, quick = shipped_path(name)
    document: Mapping[str, object] = _parse(file_text(path), f"plan {name}")
    if quick:
        document = _quick_form(document, f"plan {name}")
    return _text(document, "title", f"plan {name}", "")


def load_plan(name_or_path: str | Path, catalogue: Catalogue) -> Plan:
    """Read a plan: one that comes with Clonometer, by name, or a TOML file, by path.

    A text with a ``/`` or that ends in ``.toml`` is a path. ``NAME-quick.toml`` is the quick form of ``NAME.toml``
    where there is no such file.

    Raises
    ------
    UsageError
        If there is no such plan or file.
    PlanError
        If the file is no TOML or breaks docs/plan.md; the message names file and place, the hint what exists.

    Examples
    --------
    >>> from clonometer.plan.catalogue import read_catalogue
    >>> load_plan("defualt", read_catalogue([]))
    Traceback (most recent call last):
    clonometer.errors.UsageError: unknown plan 'defualt'; did you mean 'default'?
    """
    path, source, default_name, quick = _file_of(name_or_path)
    return parse_plan(file_text(path), source, catalogue, default_name=default_name, quick=quick)


def plan_workloads(name_or_path: str | Path) -> tuple[str, ...]:
    """Ids and globs of workloads that a plan names, before any catalogue is known; parameter as of `load_plan`.

    Raises
    ------
    UsageError
        If there is no such plan or file.
    PlanError
        If the file is no TOML, or an entry names no workloads.

    Examples
    --------
    >>> plan_workloads("quick")[:2]
    ('launch.fork', 'launch.pthread')
    """
    path, source, _, quick = _file_of(name_or_path)
    document: Mapping[str, object] = _parse(file_text(path), source)
    if quick:
        document = _quick_form(document, source)
    names: list[str] = []
    for index, content in enumerate(_tables(document, source), start=1):
        place = f"{source}: cells {index}"
        names += _texts(_table(content, place).get("workloads"), f"{place}: workloads")
    return tuple(names)


def _file_of(name_or_path: str | Path) -> tuple[Traversable, str, str, bool]:
    """The file of a plan, what messages call it, its name where it gives none, and whether its quick form is meant."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith(".toml"):
        path, whole = Path(text), Path(text.replace(f"{QUICK}.toml", ".toml"))
        quick = whole.is_file() and not path.exists()
        path = whole if quick else path
        return path, path.name, path.stem, quick
    shipped, quick = shipped_path(text)
    return shipped, f"plan {text}", text, quick


def parse_plan(
    toml: str, source: str, catalogue: Catalogue, *, default_name: str = "plan", quick: bool = False
) -> Plan:
    """Read a plan from its TOML text.

    Messages call it ``source``; ``default_name`` is its name where the text gives none.

    Raises
    ------
    PlanError
        If the text is no TOML or breaks docs/plan.md.
    """
    document = _parse(toml, source)
    schema = document.get("schema")
    if schema != PLAN_SCHEMA or isinstance(schema, bool):
        wrong = "missing" if schema is None else shown(schema)
        raise PlanError(f"{source}: schema is {wrong}", f"this version reads schema = {PLAN_SCHEMA}")
    _known_keys(document, _TOP_KEYS, source)
    name = _text(document, "name", source, default_name)
    if quick:
        name, document, source = f"{name}{QUICK}", _quick_form(document, source), f"{source}: quick form"
    base = Limits(**_limits(document, source))
    common = _settings(document, source)
    temperatures = _temperatures(document, source)
    entries = [
        _entry(_table(content, f"{source}: cells {index}"), f"{source}: cells {index}", common, temperatures)
        for index, content in enumerate(_tables(document, source), start=1)
    ]
    targets = expand(entries, catalogue, base)
    title, width = _text(document, "title", source, name), _target_width(document, source)
    budget = checked_budget(document.get("budget_seconds", DEFAULT_BUDGET_SECONDS), f"{source}: budget_seconds")
    return Plan(name, title, budget, targets, width)


def _parse(toml: str, source: str) -> dict[str, object]:
    try:
        return parse_toml(toml)
    except InputError as error:
        raise PlanError(f"{source}: {error.message}") from None


def _quick_form(document: Mapping[str, object], source: str) -> dict[str, object]:
    """What ``quick`` makes of a plan: the entries that say so, with what they say, and what it adds."""
    changes = dict(_table(document.get("quick"), f"{source}: quick"))
    _known_keys(changes, _QUICK_KEYS, f"{source}: quick")
    cells = []
    for index, content in enumerate(_tables(document, source), start=1):
        entry = dict(_table(content, f"{source}: cells {index}"))
        if "quick" in entry:
            cells.append(_laid_over(entry, _table(entry.pop("quick"), f"{source}: cells {index}: quick")))
    added = changes.pop("cells", [])
    return {**_laid_over(document, changes), "cells": [*cells, *(added if isinstance(added, list) else [added])]}


def _laid_over(table: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """A table with changes: tables within it are changed by key, what is no table is replaced."""
    merged = {**table, **changes}
    for key in table.keys() & changes.keys():
        before, after = table[key], changes[key]
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            merged[key] = _laid_over(before, after)
    return merged


def _entry(
    table: Mapping[str, object],
    place: str,
    common: Mapping[str, tuple[object, ...]],
    temperatures: tuple[str, ...] | None,
) -> Entry:
    _known_keys(table, _ENTRY_KEYS, place)
    if "workloads" not in table:
        raise PlanError(f"{place}: workloads is missing", 'for example workloads = ["launch.fork"]')
    return Entry(
        place=place,
        workloads=_texts(table["workloads"], f"{place}: workloads"),
        settings={**common, **_settings(table, place)},
        temperatures=_temperatures(table, place) or temperatures,
        limits=_limits(table, place),
        family=_text(table, "family", place, "") or None,
    )


def _temperatures(table: Mapping[str, object], place: str) -> tuple[str, ...] | None:
    temperature = table.get("temperature")
    return None if temperature is None else _texts(temperature, f"{place}: temperature")


def _settings(table: Mapping[str, object], place: str) -> dict[str, tuple[object, ...]]:
    settings = {}
    for axis, given in _table(table.get("set", {}), f"{place}: set").items():
        settings[axis] = tuple(given) if isinstance(given, list) else (given,)
        if not settings[axis]:
            raise PlanError(f"{place}: set.{axis} has no value")
    return settings


def _limits(table: Mapping[str, object], place: str) -> dict[str, int]:
    place = f"{place}: limits"
    limits = _table(table.get("limits", {}), place)
    try:
        return read_limits(limits)
    except PlanError as error:
        raise PlanError(f"{place}: {error.message}", error.hint) from None


def _known_keys(table: Mapping[str, object], known: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in known:
            near = unknown("key", key, known)
            raise PlanError(f"{place}: {near.message}", near.hint)


def _tables(document: Mapping[str, object], source: str) -> list[object]:
    cells = document.get("cells")
    if not isinstance(cells, list) or not cells:
        raise PlanError(f"{source}: has no [[cells]]", "docs/plan.md shows what a plan looks like")
    return cells


def _table(value: object, place: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise PlanError(f"{place}: is not a table but {shown(value)}")
    return value


def _texts(value: object, place: str) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise PlanError(f"{place}: must be a text or a list of texts, is {shown(value)}")
    return tuple(texts)


def _text(table: Mapping[str, object], key: str, place: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise PlanError(f"{place}: {key} must be a text, is {shown(value)}")
    return value


def _target_width(document: Mapping[str, object], source: str) -> float:
    value = document.get("target_width", TARGET_WIDTH)
    if isinstance(value, str) and value.rstrip().endswith("%"):
        try:
            return parse_share(value)
        except UsageError as error:
            raise PlanError(f"{source}: target_width: {error.message}", error.hint) from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise PlanError(f"{source}: target_width takes a share such as 0.02 or '2%', not {shown(value)}")
    return float(value)


def checked_budget(value: object, place: str) -> float:
    """Read a budget in seconds: a finite number above 0, else PlanError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise PlanError(f"{place} takes a number of seconds greater than 0, not {shown(value)}")
    return float(value)
