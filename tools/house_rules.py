"""House rules that no linter knows.

Lengths of functions; what folders of C include; names; nothing of this machine in the text; what the
catalogue names is listed by the modules that own it alone (CONTRIBUTING.md); what is found by name is found
(`rooms.py`); and all texts are plain English (`prose.py`).
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tools.rooms import PACKAGE

from tools import prose, reading_rules, rooms

MOST_FUNCTION_LINES = 60
SOURCES = {".py", ".c", ".h", ".cpp", ".hpp", ".sh", ".html", ".css", ".js", ".j2"}
# An address belongs in no lock and no configuration; links to documentation in prose may stand.
ADDRESS_FILES = re.compile(r"(requirements/|\.lock$|Makefile$|pyproject\.toml$|\.ci/|CMakeLists\.txt$)")
ADDRESS = re.compile(r"https?://")
# Words that name nothing: a variable is called after what it holds, a function after what it does or gives.
EMPTY_NAMES = {"one", "own", "found", "said", "told", "here", "there"}
C_SOURCES = {".c", ".h", ".cpp", ".hpp"}
C_TEXT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
# Words after which a name is read, not declared.
C_READERS = {"return", "else", "case", "goto", "sizeof", "throw", "delete", "co_return", "and", "or", "not"}
C_EMPTY_NAME = rf"_*(?:{'|'.join(sorted(EMPTY_NAMES))})_*"
# After a type; further on in a list of such; a pointer to a function.
C_DECLARED = re.compile(
    rf"(?:\b(?P<type>[A-Za-z_]\w*)>*|}})(?:[ \t]+[*&]*|[*&]+[ \t]+)(?P<first>{C_EMPTY_NAME})[ \t]*[;,=()\[{{:]"
    rf"|,[ \t]*[*&]*(?P<further>{C_EMPTY_NAME})[ \t]*(?:;|=(?!=))"
    rf"|\(\*(?P<pointer>{C_EMPTY_NAME})\)\("
)
CORE = Path("core/README.md")
C_INCLUDED = re.compile(r'^#include "(\w+)/', re.MULTILINE)
SCHEMAS = Path("docs/schemas")
DESCRIBED = Path("tests/data/describe.json")
# Families describe themselves here; studies, the explanation of one workload, the comparison with other tools'
# benchmarks and the advice for servers ask for their own cells by name.
OWNERS = ("families/", "studies/", "tracing/work/", "results/peers/", "advice/")
# In these rooms each module belongs to a family, but for those that speak of any.
ROOMS = tuple(room for room in rooms.OFFERED if room not in OWNERS)
OF_ANY_FAMILY = {"all", "arrays", "choices", "comparing", "finder", "limits", "scanned", "scans", "types", "wording"}
# A quantity whose name has no unit ("faults", "ended") is an ordinary word.
UNITS = ("_ns", "_bytes", "_per_s")
# What holds a name says so: `scan.axis`, `other_stage`, `name`.
HOLDS_NAME = re.compile(r"(?:axis|family|workload|quantity|stage|\bname)\b")
NAMED_ROOTS = ("src/", "bench/", "drivers/", "publications/", "tools/", "tests/")


def tracked() -> list[Path]:
    """Files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.splitlines() if Path(name).is_file()]


def long_c_functions(path: Path, lines: list[str]) -> list[str]:
    """Functions of C that are longer than they should be: from an opening brace that ends a line to one in column 0."""
    long, start = [], None
    for number, line in enumerate(lines, 1):
        if start is None and line.endswith("{") and line[:1].isalpha() and "(" in line:
            start = number
        elif line.startswith("}") and start is not None:
            if number - start > MOST_FUNCTION_LINES:
                long.append(f"{path}:{start}: a function of {number - start} lines")
            start = None
    return long


def long_functions(path: Path, tree: ast.Module) -> Iterator[str]:
    """The same of Python: the lines below the signature and the docstring."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[1 if len(node.body) > 1 and ast.get_docstring(node) is not None else 0]
            length = (node.end_lineno or 0) - first.lineno + 1
            if length > MOST_FUNCTION_LINES:
                yield f"{path}:{node.lineno}: a function of {length} lines"


def empty_names(path: Path, tree: ast.Module) -> Iterator[str]:
    """Variables, arguments, attributes, functions and classes that are called by a word which names nothing."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                if name.strip("_") in EMPTY_NAMES:
                    yield f"{path}:{node.lineno}: {name!r} does not say what it is"


def empty_keys(path: Path, schema: object) -> Iterator[str]:
    """The same of the keys of a JSON answer, by its schema."""
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if isinstance(schema, dict):
        properties = schema.get("properties")
        keys = properties if isinstance(properties, dict) else {}
        yield from (f"{path}: the key {key!r} does not say what it is" for key in keys if key in EMPTY_NAMES)
        for part in schema.values():
            yield from empty_keys(path, part)


def empty_c_names(path: Path, text: str) -> Iterator[str]:
    """The same of C and C++: variables, parameters, members and functions; not words in comments and texts."""
    code = C_TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for declared in C_DECLARED.finditer(code):
        if declared["type"] not in C_READERS:
            name = declared["first"] or declared["further"] or declared["pointer"]
            yield f"{path}:{code.count(chr(10), 0, declared.start()) + 1}: {name!r} does not say what it is"


def c_walls() -> dict[str, set[str]]:
    """What the files of each folder of C may include of other folders, by the table of its README."""
    rows = re.findall(r"^\| `(\w+)/` \|.*\|([^|]*)\|$", CORE.read_text(encoding="utf-8"), re.MULTILINE)
    return {folder: {folder, *re.findall(r"\w+", others)} for folder, others in rows}


def include_faults(path: Path, text: str, walls: Mapping[str, set[str]]) -> Iterator[str]:
    """What a file includes of folders that its own has no business with."""
    allowed = walls.get(path.parts[1] if path.parts[0] == "core" else "", {"all"})
    for included in C_INCLUDED.finditer(text):
        if "all" not in allowed and included[1] in walls and included[1] not in allowed:
            line = text.count("\n", 0, included.start()) + 1
            yield f"{path}:{line}: includes {included[1]}/, which {CORE} does not name for {path.parent}"


def shared_names(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Public types of the package, classes and aliases, that have one name."""
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            for name in type_names(node):
                if not name.startswith("_"):
                    places[name].append(f"{path}:{node.lineno}")
    for name, shared in places.items():
        if len(shared) > 1:
            yield f"{shared[0]}: there is another type {name}: {', '.join(shared[1:])}"


def type_names(node: ast.stmt) -> Iterator[str]:
    """The types that a statement defines: a class, or aliases, whose names are in CamelCase as no constant's is."""
    match node:
        case ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name) and is_camel_case(target.id))
        case ast.AnnAssign(target=ast.Name(id=name)) if is_camel_case(name):
            yield name


def is_camel_case(name: str) -> bool:
    """Whether a name is written as those of types are."""
    return name[0].isupper() and not name.isupper()


def described_names() -> list[set[str]]:
    """The names of families, of workloads, of axes, of quantities and of stages that drivers describe."""
    described = json.loads(DESCRIBED.read_text(encoding="utf-8"))
    workloads = [workload for driver in described for workload in driver["workloads"]]
    axes = {axis for driver in described for axis in driver["axes"]}
    quantities = {name: quantity["stage"] for driver in described for name, quantity in driver["quantities"].items()}
    with_units = {name for name in quantities if name.endswith(UNITS)}
    stages = {stage for stage in quantities.values() if stage is not None}
    return [{entry["family"] for entry in workloads}, {entry["id"] for entry in workloads}, axes, with_units, stages]


def may_list_names(path: Path) -> bool:
    """Whether a file may have tables of names, or compare with them; outside the package any may."""
    place = str(path).removeprefix(PACKAGE)
    in_package = str(path).startswith(PACKAGE)
    return not in_package or place.startswith(OWNERS) or (place.startswith(ROOMS) and path.stem not in OF_ANY_FAMILY)


def tables_of_names(path: Path, tree: ast.Module, names: list[set[str]]) -> Iterator[str]:
    """Tables of names: a literal that has two names of one kind, or comparisons of one thing with two."""
    for line, column in columns_of(tree):
        for kind in names:
            if len(listed := dict.fromkeys(text for text in texts_of(column) if text in kind)) > 1:
                yield f"{path}:{line}: a table of names of the catalogue: {', '.join(listed)}"


def columns_of(tree: ast.Module) -> Iterator[tuple[int, Iterable[ast.expr | None]]]:
    """What belongs together: entries of a literal, keys apart from values; what a function compares one thing with."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=keys, values=values):
                yield from ((node.lineno, keys), (node.lineno, values))
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
                yield node.lineno, values
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                yield node.lineno, [ast.Constant(keyword.arg) for keyword in keywords]
                yield node.lineno, [keyword.value for keyword in keywords]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                by_holder: dict[str, list[ast.expr]] = defaultdict(list)
                for holder, against in comparisons_in(node):
                    by_holder[ast.unparse(holder)] += against
                yield from ((node.lineno, against) for against in by_holder.values())


def texts_of(column: Iterable[ast.expr | None]) -> Iterator[str]:
    """The literal texts among expressions, and in the rows that they are: sequences and arguments of calls."""
    for entry in column:
        match entry:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Tuple(elts=values) | ast.List(elts=values):
                yield from texts_of(values)
            case ast.Call(args=values, keywords=keywords):
                yield from texts_of([*values, *(keyword.value for keyword in keywords)])


def comparisons_in(tree: ast.AST) -> Iterator[tuple[ast.expr, Sequence[ast.expr]]]:
    """What is compared with what: by ``==``, ``!=``, ``in`` a literal, or the cases of a ``match``."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=first, ops=operators, comparators=others):
                for left, operator, right in zip([first, *others], operators, others, strict=False):
                    if isinstance(operator, (ast.Eq, ast.NotEq)):
                        yield from ((left, [right]), (right, [left]))
                    elif isinstance(right, (ast.Tuple, ast.List, ast.Set)):
                        yield left, right.elts
            case ast.Match(subject=subject, cases=cases):
                patterns = [inner for case in cases for inner in ast.walk(case.pattern)]
                yield subject, [inner.value for inner in patterns if isinstance(inner, ast.MatchValue)]


def compared_names(path: Path, tree: ast.Module, names: list[set[str]]) -> Iterator[str]:
    """Comparisons with a literal name: what is special about an axis is a fact that the catalogue has of it.

    A name of one word ("path", "switch") is only taken for one where the other side is called a name, or by what it is
    a name of. A module that is about one axis, workload or quantity by its purpose has a constant for it; and values
    may be looked up by a name, as those who model a parent's memory must.
    """
    every = set().union(*names)
    for holder, values in comparisons_in(tree):
        for text in texts_of(values):
            if text in every and ("_" in text or "." in text or HOLDS_NAME.search(ast.unparse(holder))):
                yield f"{path}:{holder.lineno}: a comparison with a name of the catalogue: {text}"


def name_faults(paths: Iterable[Path]) -> list[str]:
    """What the names of Python do against the rules."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if path.suffix == ".py" and str(path).startswith(NAMED_ROOTS)
    }
    checks = (long_functions, empty_names)
    broken = [fault for path, tree in trees.items() for check in checks for fault in check(path, tree)]
    names = described_names()
    listed = [
        fault
        for path, tree in trees.items()
        if not may_list_names(path)
        for check in (tables_of_names, compared_names)
        for fault in check(path, tree, names)
    ]
    for path in SCHEMAS.glob("*.json"):
        broken += empty_keys(path, json.loads(path.read_text(encoding="utf-8")))
    package = {path: tree for path, tree in trees.items() if path.parts[0] == "src"}
    of_package = (*shared_names(package), *rooms.room_faults(package), *reading_rules.reading_faults(package))
    return [*broken, *listed, *of_package]


def faults(path: Path) -> list[str]:
    """What one file does against the rules."""
    if path.suffix not in SOURCES and not ADDRESS_FILES.search(str(path)):
        return []
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    broken = []
    if path.suffix in C_SOURCES:
        broken += [*long_c_functions(path, lines), *empty_c_names(path, text), *include_faults(path, text, c_walls())]
    if ADDRESS_FILES.search(str(path)):
        broken += [f"{path}:{i}: an address" for i, line in enumerate(lines, 1) if ADDRESS.search(line)]
    folder = f"{Path.cwd()}/"
    broken += [f"{path}:{i}: a path of this machine" for i, line in enumerate(lines, 1) if folder in line]
    return broken


def main() -> int:
    """Print every fault; 1 if there is one."""
    paths = tracked()
    broken = [*(fault for path in paths for fault in faults(path)), *name_faults(paths), *prose.all_faults()]
    sys.stdout.writelines(f"{fault}\n" for fault in broken)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
