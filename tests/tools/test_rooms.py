"""The house rules of what is found by name: nothing is passed over, and no two things share what one has alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tools.house_rules import tracked

from tools import rooms

FIGURES = "src/clonometer/views/figures"


def faults(**sources):
    """What is against the rules in modules of the room of figures, by their names."""
    return list(rooms.room_faults({Path(f"{FIGURES}/{name}.py"): ast.parse(text) for name, text in sources.items()}))


def test_all_modules_of_the_package_are_found():
    paths = [path for path in tracked() if path.suffix == ".py" and str(path).startswith(rooms.PACKAGE)]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    assert list(rooms.room_faults(trees)) == []
    asked = {name for tree in trees.values() for name in asked_for(tree)}
    assert asked == {name for names in rooms.OFFERED.values() for name in names}


def asked_for(tree):
    """The names that a module asks a room for."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="find_plugins"), args=[_, ast.Constant(value=name)]):
                yield name


@pytest.mark.parametrize("name", ["FIGURE", "FIGRUES", "_FIGURES"])
def test_a_name_that_is_nearly_the_one_looked_for_is_refused(name):
    expected = f"{FIGURES}/a.py:2: {name} is passed over: modules of this folder are found by FIGURES; call it so"
    assert faults(a=f"LIMIT = 3\n{name} = (draw(),)") == [expected]
    # Beside the right one too; and where another module imports something from it.
    assert len(faults(a=f"FIGURES = ()\n{name} = ()")) == 1
    assert len(faults(a=f"{name} = ()", b="from clonometer.views.figures.a import words\nFIGURES = ()")) == 1


@pytest.mark.parametrize("text", ["DRAWN = ()", "def f(): pass", ""])
def test_a_module_that_nothing_finds_and_nothing_imports_is_refused(text):
    expected = f"{FIGURES}/a.py: is passed over: modules of this folder are found by FIGURES, and it has none"
    assert faults(a=text) == [expected]


@pytest.mark.parametrize(
    "use",
    [
        "from clonometer.views.figures.a import f",
        "from clonometer.views.figures import a",
        "import clonometer.views.figures.a",
    ],
)
def test_what_others_import_and_what_offers_something_is_free(use):
    assert faults(a="def f(): pass", b=f"{use}\nFIGURES: tuple[Figure, ...] = ()", __init__="KINDS = ()") == []


def test_two_figures_of_one_kind_or_of_one_place_are_refused():
    text = "_KIND = 'memory'\nFIGURES = (Figure(10, _KIND), Figure(20, kind='ecdf'))"
    assert faults(a=text, b="FIGURES = (\n    Figure(30, 'gaps'),\n)") == []
    assert faults(a=text, b="FIGURES = (\n    Figure(30, 'memory'),\n)") == [
        f"{FIGURES}/b.py:2: the kind of a figure 'memory' is taken ({FIGURES}/a.py:2): give it another"
    ]
    assert faults(a=text, b="FIGURES = (Figure(place=10, kind='gaps'), Figure(40, 'ecdf'))") == [
        f"{FIGURES}/b.py:1: the place of a figure 10 is taken ({FIGURES}/a.py:2): give it another",
        f"{FIGURES}/b.py:1: the kind of a figure 'ecdf' is taken ({FIGURES}/a.py:2): give it another",
    ]


def test_two_families_of_one_name_and_two_series_of_one_name_are_refused():
    families, series = (f"src/clonometer/{room}" for room in ("families", "results/series"))
    trees = {
        Path(f"{families}/a.py"): ast.parse("FAMILY = Family('cow', order=10)"),
        Path(f"{families}/b.py"): ast.parse("FAMILY = Family('cow', order=10)"),
        Path(f"{series}/a.py"): ast.parse("SERIES = {'fits': f}"),
        Path(f"{series}/b.py"): ast.parse("SERIES = {'rows': f, 'fits': g}"),
    }
    assert [fault.partition(" is taken")[0] for fault in rooms.room_faults(trees)] == [
        f"{families}/b.py:1: the name of a family 'cow'",
        f"{families}/b.py:1: the order of a family 10",
        f"{series}/b.py:1: the series 'fits'",
    ]
