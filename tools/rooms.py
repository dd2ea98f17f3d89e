"""House rules of the rooms whose modules are found by name (`clonometer/discovery.py`): what would be lost in silence.

A module that offers nothing under the name that is looked for is passed over; of two things of one name one is lost.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

PACKAGE = "src/clonometer/"
#: The names that each room's modules are asked for.
OFFERED = {
    "families/": ("FAMILY", "AXES"),
    "results/findings/": ("FINDERS",),
    "results/series/": ("SERIES", "DISTINGUISHABLE"),
    "views/figures/": ("FIGURES",),
}
#: What no two things of a class share: arguments, by their names and places (None: it is never given by place).
UNIQUE: Mapping[str, Mapping[str, int | None]] = {
    "Figure": {"kind": 1, "place": 0},
    "Family": {"name": 0, "order": None},
}
# FIGURE and FIGRUES are like FIGURES, SIDES is not like SERIES.
_ALIKE = 0.8


def room_faults(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Modules of rooms that are passed over, and things of which one is lost."""
    imported = {name for tree in trees.values() for name in imports(tree)}
    for room, names in OFFERED.items():
        modules = {path: tree for path, tree in trees.items() if str(path.parent) == f"{PACKAGE}{room}".rstrip("/")}
        for path, tree in modules.items():
            yield from passed_over(path, tree, names, imported)
        yield from shared_values(modules)


def passed_over(path: Path, tree: ast.Module, names: tuple[str, ...], imported: set[str]) -> Iterator[str]:
    """What a module has under nearly the name that is looked for; else a module that nothing finds or imports."""
    constants = dict(constants_of(tree))
    alike = [(name, get_close_matches(name, names, 1, _ALIKE)) for name in constants if name not in names]
    for name, matches in alike:
        if matches:
            line = constants[name].lineno
            yield f"{path}:{line}: {name} is passed over: modules of this folder are found by {matches[0]}; call it so"
    dotted = ".".join(path.with_suffix("").parts[1:])
    if (
        path.stem != "__init__"
        and not any(matches for _, matches in alike)
        and not {dotted, *constants} & {*imported, *names}
    ):
        yield f"{path}: is passed over: modules of this folder are found by {' or '.join(names)}, and it has none"


def shared_values(modules: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Values that should be of one thing alone, and are of two."""
    places = defaultdict(list)
    for path, tree in modules.items():
        for what, value, line in unique_values(tree):
            places[what, value].append(f"{path}:{line}")
    for (what, value), shared in places.items():
        if len(shared) > 1:
            yield f"{shared[1]}: the {what} {value!r} is taken ({shared[0]}): give it another"


def unique_values(tree: ast.Module) -> Iterator[tuple[str, object, int]]:
    """What things of a module call their own: arguments of `UNIQUE`, and the names of series."""
    constants = dict(constants_of(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=made), args=values, keywords=keywords) if made in UNIQUE:
                given = {keyword.arg: keyword.value for keyword in keywords}
                for name, place in UNIQUE[made].items():
                    value = values[place] if place is not None and place < len(values) else given.get(name)
                    value = constants.get(value.id) if isinstance(value, ast.Name) else value
                    if isinstance(value, ast.Constant):
                        yield f"{name} of a {made.lower()}", value.value, node.lineno
    match constants.get("SERIES"):
        case ast.Dict(keys=keys):
            yield from (("series", key.value, key.lineno) for key in keys if isinstance(key, ast.Constant))


def constants_of(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The constants of a module that others may look for, and their values."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper():
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name.isupper():
                yield name, value


def imports(tree: ast.Module) -> Iterator[str]:
    """The modules that one imports, by their full names, and what it takes from them."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
