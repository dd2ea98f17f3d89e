"""The house rules of names: what a variable is called, no two public types of a name, and who lists families."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import house_rules as rules


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
    assert rules.faults(source) == [f"{source}:3: 'own' does not say what it holds"]


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
        'TOLD = frozenset(("contend",))',
        'COSTS = {"vmas": 1.0, "open_files": 2.0}',
        'def f(row): return row.workload in ["launch.fork", "launch.pthread"]',
        'WORDS = (("launch.fork", "a process"), ("launch.pthread", "a thread"))',
        'OF_STAGE = {"first": "vmas", "then": "open_files"}',
    ],
)
def test_a_table_of_families_workloads_or_axes_is_refused(code):
    assert len(list(rules.tables_of_names(Path("x.py"), ast.parse(code), rules.described_names()))) == 1


@pytest.mark.parametrize(
    "code",
    [
        'FORK, PTHREAD = "launch.fork", "launch.pthread"',
        'FAMILY = "contend"',
        'KINDS = ("bytes", "count")',
        'def f(): return {"program": 1}',
    ],
)
def test_single_names_and_other_tables_are_free(code):
    assert list(rules.tables_of_names(Path("x.py"), ast.parse(code), rules.described_names())) == []


def test_families_and_their_rooms_may_list_them():
    owners = {"families/cow.py", "results/findings/cow.py", "views/figures/messages.py", "studies/cells.py"}
    others = {"results/findings/scans.py", "views/scans.py", "plan/limits.py", "results/series/scans.py"}
    assert {name for name in owners | others if rules.may_list_names(Path(f"src/clonometer/{name}"))} == owners
