"""The house rules of names: what a variable is called, no two public types of a name, and who names families."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tools.house_rules import tracked
from tools.rooms import PACKAGE

from tools import house_rules as rules
from tools import reading_rules


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "for one in rows: pass",
        "def f(*, told): pass",
        "self._said = []",
        "class A:\n    here: int",
        "[own for own in rows]",
        "if (there := f()): pass",
        "f(key=lambda one: one.x)",
        "def _told(): pass",
        "async def own(): pass",
        "class Here: pass\nclass here: pass",
    ],
)
def test_a_word_that_names_nothing_is_refused(code):
    assert len(list(rules.empty_names(Path("a.py"), ast.parse(code)))) == 1


def test_reading_a_name_and_words_within_names_are_free():
    code = "alone = one\nf(found=alone)\nknown.one\ndef own_cells(): pass"
    assert list(rules.empty_names(Path("a.py"), ast.parse(code))) == []


@pytest.mark.parametrize(
    "code",
    [
        "int found;",
        "    struct sample *own = bench->state;",
        "    void *own;       /* of the operation */",
        "static void look(const char *path, bool there) {",
        "int compare(const void *one, const void *other);",
        "unsigned char here[2] = {0, 0};",
        "for (const struct row *one = rows; one->name != NULL; one++) {",
        "int status = 0, marks = 0, said = 0;",
        "int first, told;",
        "    unsigned own : 1;",
        "    bool (*there)(void *context);",
        "static struct told {",
        "} found;",
        "for (const auto& one : rows) {",
        "std::vector<int> found{1};",
        "std::string told_;",
        "static int own(const char *path) {",
        "const char *told(void);",
        "int /* why */ found = 1;",
        'call("here"); int found = 1;',
    ],
)
def test_a_declaration_of_c_that_names_nothing_is_refused(code):
    assert len(list(rules.empty_c_names(Path("a.c"), f"int i;\n{code}\n"))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "/* it is there; what was found, is here */",
        "/* of\n * its own; and there, */",
        "int i; // the own one; there",
        'say("not found; nothing here, or there = 1");',
        "put('\\''); // own;",
        "return found;",
        "sizeof one);",
        "goto there;",
        "x = a * own;",
        "f(first, found);",
        "x = wanted ? own : other;",
        "if (a > found && b == told) {",
        "int own_stack = 0; bool is_there; char *told_all;",
    ],
)
def test_reading_a_name_of_c_and_words_in_comments_are_free(code):
    assert list(rules.empty_c_names(Path("a.c"), code)) == []


def test_a_name_of_c_is_told_with_its_line_and_lint_asks_for_it(tmp_path):
    source = tmp_path / "a.h"
    source.write_text("/* two\n * lines */\nint own;\n", encoding="utf-8")
    assert rules.faults(source) == [f"{source}:3: 'own' does not say what it is"]


def test_a_key_that_names_nothing_is_refused_wherever_it_is():
    schema = {"properties": {"said": {}, "a": {"anyOf": [{"properties": {"own": {}, "found_ns": {}}}]}}}
    faults = list(rules.empty_keys(Path("a.json"), schema))
    assert [fault.split("'")[1] for fault in faults] == ["said", "own"]


def test_a_function_of_more_than_60_lines_is_refused_and_its_docstring_is_not_counted():
    body = "    x = 1\n" * 59
    for more, faults in (("", []), ("    x = 2\n", ["a.py:1: a function of 61 lines"])):
        tree = ast.parse(f'def f(\n    a,\n):\n    """A\n\n    b."""\n    x = 0\n{body}{more}')
        assert list(rules.long_functions(Path("a.py"), tree)) == faults


def test_a_folder_of_c_includes_only_what_its_readme_names():
    walls = rules.c_walls()
    assert {"base", "probe", "workloads", "events", "tracer", "census", "guardian", "targets"} <= walls.keys()
    text = '#include <errno.h>\n\n#include "base/sys.h"\n#include "census/names.h"\n#include "call_names.h"\n'
    [fault] = rules.include_faults(Path("core/probe/parent/areas.c"), text, walls)
    assert fault.startswith("core/probe/parent/areas.c:4: includes census/")
    assert list(rules.include_faults(Path("core/census/roots.c"), text, walls)) == []
    assert list(rules.include_faults(Path("core/test/test_keys.c"), text, walls)) == []
    assert list(rules.include_faults(Path("core/base/sys.c"), '#include "events/rings.h"\n', walls))


def test_two_public_classes_of_one_name_are_refused():
    trees = {
        Path("a.py"): ast.parse("class Row: pass\nclass _Book: pass"),
        Path("b.py"): ast.parse("class _Book: pass\nclass Row: pass"),
        Path("c.py"): ast.parse("class Rows: pass"),
    }
    assert list(rules.shared_names(trees)) == ["a.py:1: there is another type Row: b.py:2"]


def test_an_alias_shares_its_name_with_no_class_and_no_other_alias_and_a_constant_may():
    trees = {
        Path("a.py"): ast.parse("class Row: ...\nEnds: TypeAlias = tuple[int, int]\nLIMIT = 3"),
        Path("b.py"): ast.parse("Row = dict[str, int]\nLIMIT = 4\n_Key = tuple[int]\nT = TypeVar('T')"),
        Path("c.py"): ast.parse("Ends = tuple[float, float]\n_Key = tuple[str]\nT = TypeVar('T')"),
    }
    assert list(rules.shared_names(trees)) == [
        "a.py:1: there is another type Row: b.py:1",
        "a.py:2: there is another type Ends: c.py:1",
    ]


@pytest.mark.parametrize(
    "code",
    [
        'ORDER = ("same_image", "new_program")',
        'COSTS = {"vmas": 1.0, "open_files": 2.0}',
        'def f(row): return row.workload in ["launch.fork", "launch.pthread"]',
        'WORDS = (("launch.fork", "a process"), ("launch.pthread", "a thread"))',
        'OF_STAGE = {"first": "vmas", "then": "open_files"}',
        # A stranger among them.
        'SHOWN = ("vmas", "depth", "open_files")',
        # In another place of the rows, which may be calls.
        'WORDS = (("a process", "launch.fork"), ("a thread", "launch.pthread"))',
        'ROWS = [Row("a", workload="launch.fork"), Row("b", workload="launch.pthread"), Row("c")]',
        # Unpacked.
        'FORK, PTHREAD = "launch.fork", "launch.pthread"',
        "ORDER = dict(cow=1, isolate=2)",
        'ORDER = dict(first="cow", then="isolate")',
        # Written as cases, or as ifs.
        'def f(kind):\n  match kind:\n    case "cow" | "isolate" | "strange": pass',
        'def f(kind):\n  match kind:\n    case "cow": pass\n    case [_, "isolate"]: pass',
        'def f(kind):\n    if kind == "cow": return 1\n    if kind in ("isolate", "strange"): return 2',
        'async def f(kind): return 1 if "cow" == kind else 2 if kind != "isolate" else 3',
        # Quantities and stages.
        'SHOWN = ("write_each_ns", "again_each_ns", "other_ns")',
        'ENDS = {"reaped": 1, "call_returns": 2, "job_done": 3}',
    ],
)
def test_a_table_of_names_of_the_catalogue_is_refused(code):
    assert list(rules.tables_of_names(Path("x.py"), ast.parse(code), rules.described_names()))


@pytest.mark.parametrize(
    "code",
    [
        'FAMILY = "contend"',
        'KINDS = ("bytes", "count")',
        'def f(): return {"program": 1}',
        'KEYS = ("cell", "unit", "placement")',
        'EVENTS = ("tasks", "sched", "faults")',
        'ROWS = [Row("fork", "launch.fork"), Row("placement", "free")]',
        'ROWS = (Row("fork", "launch.fork"),)',
        'FORK, WORD = "launch.fork", "a process"',
        "WORDS = dict(cow=1, horse=2)",
        'replace(row, stages="a", counters="b")',
        'match kind:\n    case "switch" | "exit": pass',
        'def f(kind, name): return kind == "switch" or kind == "exit" or name == "wake"',
        'def f(kind): return 1 if kind == "switch" else 2 if kind != "switch" else 3',
        'COUNTS = ("faults", "migrations", "sleeps")',
        'PARTS = ("reaped", "begins", "ends")',
    ],
)
def test_single_names_and_other_tables_are_free(code):
    assert list(rules.tables_of_names(Path("x.py"), ast.parse(code), rules.described_names())) == []


@pytest.mark.parametrize(
    "code",
    [
        'if axis == "workers": pass',
        'rows = [row for row in rows if "cow" != row.family]',
        'done = kind in ("launch.fork", "strange")',
        'whole = scan.other_stage not in ("reaped", None)',
        'least = key == "parent_bytes"',
        'ordered = sorted(names, key=lambda name: name == "placement")',
        'match row.stage:\n    case "reaped" if row.known: pass',
    ],
)
def test_a_comparison_with_a_name_of_the_catalogue_is_refused(code):
    assert len(list(rules.compared_names(Path("x.py"), ast.parse(code), rules.described_names()))) == 1


@pytest.mark.parametrize(
    "code",
    [
        'if event.kind == "switch": pass',
        'found = file_name == "output" or how in ("counters", "smaps")',
        'if axis == "depth" or axis == OF_THIS_MODULE: pass',
        'known = "parent_bytes" in condition and condition["vmas"] == 0',
        'match event.kind:\n    case "wake": pass',
    ],
)
def test_ordinary_words_and_values_of_an_axis_may_be_compared(code):
    assert list(rules.compared_names(Path("x.py"), ast.parse(code), rules.described_names())) == []


def test_both_rules_hold_in_the_package_and_not_in_its_tests(tmp_path, monkeypatch):
    described = rules.described_names()
    monkeypatch.setattr(rules, "described_names", lambda: described)
    monkeypatch.chdir(tmp_path)
    for place in ("src/clonometer/views/x.py", "tests/x.py"):
        path = Path(place)
        path.parent.mkdir(parents=True)
        path.write_text('ORDER = ("cow", "isolate")\nif axis == "vmas": pass\n', encoding="utf-8")
    listed = rules.name_faults([Path("src/clonometer/views/x.py"), Path("tests/x.py")])
    assert [fault.partition(": a ")[0] for fault in listed] == [f"src/clonometer/views/x.py:{line}" for line in (1, 2)]


def test_families_and_their_rooms_may_list_them():
    owners = {
        "families/cow.py",
        "results/peers/rows.py",
        "results/findings/cow.py",
        "views/figures/messages.py",
        "studies/cells.py",
    }
    others = {"results/findings/scans.py", "views/scans.py", "plan/limits.py", "results/series/scans.py"}
    assert {name for name in owners | others if rules.may_list_names(Path(f"src/clonometer/{name}"))} == owners


def faults(text: str, place: str = "app/new.py") -> list[str]:
    return list(reading_rules.reading_faults({Path(f"{PACKAGE}{place}"): ast.parse(text)}))


@pytest.mark.parametrize(
    "text",
    [
        "path.read_text()",
        "path.read_bytes()",
        "path.open('rb')",
        "open(name)",
        "os.open(name, os.O_RDONLY | os.O_NONBLOCK)",
        "os.fdopen(number, 'rb')",
    ],
)
def test_a_new_reader_is_refused_where_nothing_exempts_it(text: str) -> None:
    assert faults(text) == [f"{PACKAGE}app/new.py:1: reads a file past clonometer.inputs (tools/reading_rules.py)"]
    assert faults(text, "host/new.py") == []


@pytest.mark.parametrize("text", ["path.open('w')", "open(name, 'xb', opener=new)", "read_text(path, KIND)"])
def test_what_only_writes_or_reads_in_bounds_may_stand_anywhere(text: str) -> None:
    assert faults(text) == []


def test_the_package_keeps_the_rule_and_every_exemption_is_needed() -> None:
    paths = [path for path in tracked() if path.suffix == ".py" and str(path).startswith(PACKAGE)]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    assert list(reading_rules.reading_faults(trees)) == []
    needed = {reading_rules.exemption_of(path) for path, tree in trees.items() if reading_rules.lines_that_read(tree)}
    assert needed == set(reading_rules.EXEMPT)
